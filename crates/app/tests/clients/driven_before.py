"""The same on the official Python client of the revision before."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def reached(where: str):
    """Over HTTP with a token if it is an address, else a child process over its standard streams."""
    if not where.startswith("http"):
        return stdio_client(StdioServerParameters(command=where, args=["mcp", "--tools", "records"], env=dict(os.environ)))
    return streamablehttp_client(where, headers={"Authorization": "Bearer " + os.environ["UNDERSTORY_TOKEN"]})


async def main(where: str) -> None:
    async with reached(where) as (reader, writer, *_), ClientSession(reader, writer) as session:
        await session.initialize()
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            answer = await session.call_tool(asked["tool"], asked["arguments"])
            print(json.dumps(answer.structuredContent), flush=True)


asyncio.run(main(sys.argv[1]))

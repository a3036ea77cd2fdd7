"""An official Python client of the newest revision that calls what it is told, a line at a time."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def reached(where: str):
    """Over HTTP with a token if it is an address, else a child process over its standard streams."""
    if not where.startswith("http"):
        return StdioServerParameters(command=where, args=["mcp", "--tools", "records"], env=dict(os.environ))
    http = create_mcp_http_client(headers={"Authorization": "Bearer " + os.environ["UNDERSTORY_TOKEN"]})
    return streamable_http_client(where, http_client=http)


async def main(where: str) -> None:
    async with Client(reached(where)) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            answer = await client.call_tool(asked["tool"], asked["arguments"])
            print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main(sys.argv[1]))

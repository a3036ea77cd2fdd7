"""The same on the official Python client of the revision before."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(binary: str) -> None:
    server = StdioServerParameters(command=binary, args=["mcp", "--tools", "records"], env=dict(os.environ))
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            answer = await session.call_tool(asked["tool"], asked["arguments"])
            print(json.dumps(answer.structuredContent), flush=True)


asyncio.run(main(sys.argv[1]))

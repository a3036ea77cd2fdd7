"""An official Python client of the newest revision that calls what it is told, a line at a time."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(binary: str) -> None:
    server = StdioServerParameters(command=binary, args=["mcp", "--tools", "records"], env=dict(os.environ))
    async with Client(server) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            answer = await client.call_tool(asked["tool"], asked["arguments"])
            print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main(sys.argv[1]))

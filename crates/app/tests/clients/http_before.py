"""An agent on the official Python client of the revision before, over HTTP with a token."""

import asyncio
import os
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main(address: str) -> None:
    headers = {"Authorization": "Bearer " + os.environ["UNDERSTORY_TOKEN"]}
    async with streamablehttp_client(address, headers=headers) as (reader, writer, _):
        async with ClientSession(reader, writer) as session:
            begun = await session.initialize()
            assert begun.protocolVersion == "2025-11-25", begun
            assert "graph_next" in [tool.name for tool in (await session.list_tools()).tools]
            seen = await session.call_tool("graph_onboard", {})
            assert seen.structuredContent["you"] == "ada", seen
            missing = await session.call_tool("graph_context", {"node_id": "TASK-999"})
            assert missing.isError and missing.structuredContent["error"]["code"] == "NOT_FOUND"
    print("ok ada")


asyncio.run(main(sys.argv[1]))

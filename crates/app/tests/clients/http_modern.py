"""An agent on the official Python client of the newest revision, over HTTP with a token."""

import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(address: str) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["UNDERSTORY_TOKEN"]})
    async with Client(streamable_http_client(address, http_client=http)) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "graph_next" in listed and "graph_history" not in listed, listed
        seen = await client.call_tool("graph_onboard", {})
        assert seen.structured_content["you"] == "ada", seen
        told = await client.call_tool("toolset", {"name": "graph"})
        assert "graph_history" in [tool["name"] for tool in told.structured_content["tools"]], told
        again = [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]
        assert again == listed, again
        missing = await client.call_tool("graph_context", {"node_id": "TASK-999"})
        assert missing.is_error and missing.structured_content["error"]["code"] == "NOT_FOUND"
    print("ok ada")


asyncio.run(main(sys.argv[1]))

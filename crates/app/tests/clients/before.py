"""The same agent on the official Python client of the revision before, which starts with a handshake."""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(binary: str) -> None:
    server = StdioServerParameters(command=binary, args=["mcp", "--tools", "graph"], env=dict(os.environ))
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        begun = await session.initialize()
        assert begun.protocolVersion == "2025-11-25", begun.protocolVersion
        assert "graph_onboard" in begun.instructions
        listed = [tool.name for tool in (await session.list_tools()).tools]
        assert "graph_history" in listed, listed
        planned = await session.call_tool(
            "graph_plan",
            {"nodes": [{"ref": "a", "summary": "Alpha"}, {"ref": "b", "summary": "Beta", "depends_on": ["a"]}]},
        )
        ids = [node["id"] for node in planned.structuredContent["created"]]
        claimed = await session.call_tool("graph_next", {"claim": True})
        assert claimed.structuredContent["nodes"][0]["node"]["id"] == ids[0]
        done = await session.call_tool("graph_update", {"updates": [{"node_id": ids[0], "resolved": True}]})
        assert [n["id"] for n in done.structuredContent["newly_actionable"]] == [ids[1]]
        missing = await session.call_tool("graph_context", {"node_id": "TASK-999"})
        assert missing.isError and missing.structuredContent["error"]["code"] == "NOT_FOUND"
        resources = (await session.list_resources()).resources
        await session.subscribe_resource(resources[0].uri)
        overview = await session.read_resource(resources[0].uri)
        assert "summary" in overview.contents[0].text
        prompts = [prompt.name for prompt in (await session.list_prompts()).prompts]
        assert "continue_work" in prompts, prompts
        prompt = await session.get_prompt("subtopic", {"record": "r7"})
        assert "R007" in prompt.messages[0].content.text
        print("ok", *ids)


asyncio.run(main(sys.argv[1]))

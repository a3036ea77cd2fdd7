"""An agent on the official Python client of the newest revision: plan, claim, resolve, fail well."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters


async def main(binary: str) -> None:
    server = StdioServerParameters(command=binary, args=["mcp"], env=dict(os.environ))
    async with Client(server) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "graph_next" in listed and "graph_history" not in listed, listed
        planned = await client.call_tool(
            "graph_plan",
            {"nodes": [{"ref": "a", "summary": "Alpha"}, {"ref": "b", "summary": "Beta", "depends_on": ["a"]}]},
        )
        ids = [node["id"] for node in planned.structured_content["created"]]
        claimed = await client.call_tool("graph_next", {"claim": True})
        assert claimed.structured_content["nodes"][0]["node"]["id"] == ids[0]
        done = await client.call_tool("graph_update", {"updates": [{"node_id": ids[0], "resolved": True}]})
        assert [n["id"] for n in done.structured_content["newly_actionable"]] == [ids[1]]
        missing = await client.call_tool("graph_context", {"node_id": "TASK-999"})
        assert missing.is_error and missing.structured_content["error"]["code"] == "NOT_FOUND"
        told = await client.call_tool("toolset", {"name": "graph"})
        assert "graph_history" in [tool["name"] for tool in told.structured_content["tools"]], told
        again = [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]
        assert again == listed, again
        resources = (await client.list_resources()).resources
        overview = await client.read_resource(str(resources[0].uri))
        assert "summary" in overview.contents[0].text
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "continue_work" in prompts, prompts
        prompt = await client.get_prompt("subtopic", {"record": "r7"})
        assert "R007" in prompt.messages[0].content.text
        made = await client.call_tool(
            "create_record", {"parent_id": None, "type": "question", "title": "T", "summary": "S", "body": "B"}
        )
        record = str(resources[1].uri) + "/" + made.structured_content["record"]["id"]
        assert '"title":"T"' in (await client.read_resource(record)).contents[0].text
        print("ok", *ids)


asyncio.run(main(sys.argv[1]))

// An agent on the official TypeScript client of the newest revision: plan, claim, resolve, fail well.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'ts-modern', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp'], env: process.env }));
const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;

const listed = (await client.listTools()).tools.map((tool) => tool.name);
assert(listed.includes('graph_next'), listed);
const planned = await call('graph_plan', {
  nodes: [{ ref: 'a', summary: 'Alpha' }, { ref: 'b', summary: 'Beta', depends_on: ['a'] }],
});
const ids = planned.created.map((node) => node.id);
const claimed = await call('graph_next', { claim: true });
assert.equal(claimed.nodes[0].node.id, ids[0]);
const done = await call('graph_update', { updates: [{ node_id: ids[0], resolved: true }] });
assert.deepEqual(done.newly_actionable.map((node) => node.id), [ids[1]]);
const missing = await client.callTool({ name: 'graph_context', arguments: { node_id: 'TASK-999' } });
assert(missing.isError);
assert.equal(missing.structuredContent.error.code, 'NOT_FOUND');
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
assert(prompts.includes('resolve_conflict'), prompts);
const prompt = await client.getPrompt({ name: 'start_topic', arguments: { topic: 'caching' } });
assert(prompt.messages[0].content.text.includes('caching'));
await client.close();
console.log('ok', ...ids);

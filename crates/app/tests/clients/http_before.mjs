// An agent on the official TypeScript client of the revision before, over HTTP with a token.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const address = new URL(process.argv[2]);
const headers = { Authorization: 'Bearer ' + process.env.UNDERSTORY_TOKEN };
const transport = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
if (!tools.some((tool) => tool.name === 'graph_next')) throw new Error('no graph_next');
const seen = await client.callTool({ name: 'graph_onboard', arguments: {} });
if (seen.structuredContent.you !== 'ada') throw new Error(JSON.stringify(seen));
const missing = await client.callTool({ name: 'graph_context', arguments: { node_id: 'TASK-999' } });
if (missing.structuredContent.error.code !== 'NOT_FOUND') throw new Error(JSON.stringify(missing));
await client.close();
console.log('ok ada');

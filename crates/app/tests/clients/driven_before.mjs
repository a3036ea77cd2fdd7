// The same on the official TypeScript client of the revision before.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'ts-before', version: '1' });
// Over HTTP with a token if it is an address, else a child process over its standard streams.
const where = process.argv[2];
const headers = { Authorization: `Bearer ${process.env.UNDERSTORY_TOKEN}` };
await client.connect(
  where.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers } })
    : new StdioClientTransport({ command: where, args: ['mcp', '--tools', 'records'], env: process.env }),
);
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: args } = JSON.parse(line);
  const answer = await client.callTool({ name: tool, arguments: args });
  console.log(JSON.stringify(answer.structuredContent));
}
await client.close();

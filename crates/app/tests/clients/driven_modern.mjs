// An official TypeScript client of the newest revision that calls what it is told, a line at a time.
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'ts-modern', version: '1' }, { versionNegotiation: { mode: 'auto' } });
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

// An official TypeScript client of the newest revision that calls what it is told, a line at a time.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'ts-modern', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp', '--tools', 'records'], env: process.env }));
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: args } = JSON.parse(line);
  const answer = await client.callTool({ name: tool, arguments: args });
  console.log(JSON.stringify(answer.structuredContent));
}
await client.close();

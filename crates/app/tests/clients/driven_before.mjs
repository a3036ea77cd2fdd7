// The same on the official TypeScript client of the revision before.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const client = new Client({ name: 'ts-before', version: '1' });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ['mcp', '--tools', 'records'], env: process.env }));
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: args } = JSON.parse(line);
  const answer = await client.callTool({ name: tool, arguments: args });
  console.log(JSON.stringify(answer.structuredContent));
}
await client.close();

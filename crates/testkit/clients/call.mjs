// Lists the tools of a server with the official TypeScript client and calls some of them.
//
// Usage: node call.mjs JOB.json, where the job is
//   { packages: folder with node_modules, command: [program, …], env: {…}, calls: [{ name: NAME, arguments: {…}, fails: true? }, …] }
// for a server over stdio, or has `url` in the place of `command` and `env` for one over streamable HTTP. With `waits`, a
// file, it writes there the tools that it finds first, and lists them again whenever the server says that they have
// changed, until there are others.
// Prints one line of JSON: the server's name, its tools (name and description), and each call's result, or in words the
// error of one that is to fail.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(join(job.packages, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ToolListChangedNotificationSchema } = require('@modelcontextprotocol/sdk/types.js');

// Packages may have to be fetched before the first answer.
const PATIENT = { timeout: 100_000 };

function transport() {
  if (job.url) return new StreamableHTTPClientTransport(new URL(job.url));
  const [command, ...args] = job.command;
  return new StdioClientTransport({ command, args, env: job.env, stderr: 'inherit' });
}

const client = new Client({ name: 'fumehood-test', version: '1' }, { capabilities: {} });
const way = transport();
let changes = 0;
let wake = () => {};
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
  changes += 1;
  wake();
});

async function list() {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...page.tools.map(({ name, description }) => ({ name, description })));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

await client.connect(way, PATIENT);
let seen = changes;
let tools = await list();
if (job.waits) {
  writeFileSync(job.waits, JSON.stringify(tools));
  const first = tools.map(tool => tool.name);
  while (tools.every(tool => first.includes(tool.name))) {
    while (changes === seen) await new Promise(resolve => (wake = resolve));
    seen = changes;
    tools = await list();
  }
}
const results = [];
for (const { fails, ...call } of job.calls) {
  const answer = client.callTool(call, undefined, PATIENT);
  results.push(await (fails ? answer.catch(error => ({ error: error.message })) : answer));
}
console.log(JSON.stringify({ server: client.getServerVersion()?.name, tools, results }));
if (job.url) await way.terminateSession();
await client.close();

// Runs a scenario with the official TypeScript client and keeps every line that crossed the pipes.
//
// Usage: node record.mjs JOB.json, where the job is
//   { packages: folder with node_modules, command: [program, …], env: {…}, sent: file, received: file, steps: [step, …] }
// and a step is one of { list: "tools" | "prompts" | "resources" | "templates" }, { call: NAME, arguments: {…} },
// { prompt: NAME, arguments: {…} }, { read: URI }. Prints one line of JSON: the server's name and each step's outcome.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(join(job.packages, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');

// The shell's own pipes are between client and server, so what is kept is what went over the wire.
const wire = 'sent=$1; received=$2; shift 2; tee "$sent" | "$@" | tee "$received"';

const pages = {
  tools: cursor => client.listTools(cursor),
  prompts: cursor => client.listPrompts(cursor),
  resources: cursor => client.listResources(cursor),
  templates: cursor => client.listResourceTemplates(cursor),
};

async function list(kind) {
  let cursor;
  do {
    ({ nextCursor: cursor } = await pages[kind](cursor === undefined ? undefined : { cursor }));
  } while (cursor !== undefined);
  return 'listed';
}

async function perform(step) {
  if (step.list) return list(step.list);
  if (step.prompt) return (await client.getPrompt({ name: step.prompt, arguments: step.arguments })) && 'prompt';
  if (step.read) return (await client.readResource({ uri: step.read })) && 'read';
  const result = await client.callTool({ name: step.call, arguments: step.arguments });
  return result.isError ? 'tool-error' : 'ok';
}

const client = new Client({ name: 'fumehood-test', version: '1' }, { capabilities: {} });
await client.connect(
  new StdioClientTransport({
    command: 'sh',
    args: ['-c', wire, 'sh', job.sent, job.received, ...job.command],
    env: job.env,
    stderr: 'inherit',
  }),
);
const outcomes = [];
for (const step of job.steps) outcomes.push(await perform(step));
console.log(JSON.stringify({ server: client.getServerVersion()?.name, outcomes }));
await client.close();

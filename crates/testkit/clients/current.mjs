// Uses everything of a server that the current official TypeScript client (2.x) knows how to use.
//
// Usage: node current.mjs JOB.json, where the job is
//   { packages: folder with node_modules, url: URL, key: bearer, mode: "legacy" or "auto", prefix: before names of tools and
//     prompts, uri: before addresses of resources }
// Prints one line of JSON with what came of it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(join(job.packages, 'package.json'));
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const client = new Client(
  { name: 'fumehood-test', version: '2' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: job.mode } },
);
const asked = [];
client.setRequestHandler('elicitation/create', async ({ params }) => {
  asked.push(params.message);
  return { action: 'accept', content: { name: 'Ada' } };
});

const headers = { authorization: `Bearer ${job.key}` };
await client.connect(new StreamableHTTPClientTransport(new URL(job.url), { requestInit: { headers } }));
const call = (name) => client.callTool({ name: job.prefix + name, arguments: {} });
const refused = async (answer) => answer.then(() => 'not refused', (error) => error.message);

const told = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion()?.name,
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  text: (await call('test_simple_text')).content[0].text,
  failed: (await call('test_error_handling')).isError,
  answered: (await call('test_input_required_result_elicitation')).content[0].text,
  asked,
  unknown: await refused(call('test_nothing')),
  resource: (await client.readResource({ uri: `${job.uri}test://static-text` })).contents[0],
  prompt: (await client.getPrompt({ name: `${job.prefix}test_simple_prompt` })).messages[0].content.text,
};
console.log(JSON.stringify(told));
await client.close();

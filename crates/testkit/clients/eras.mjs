// Speaks over stdio with a server as the current official TypeScript client (2.x) does, and waits for its list to change.
//
// Usage: node eras.mjs JOB.json, where the job is
//   { packages: folder with node_modules, command: [program, …], env: {…}, mode: "legacy", "auto" or { pin: REVISION },
//     calls: [{ name: NAME, arguments: {…} }, …], listed: file, changes: true? }
// After its calls it writes `listed`, and with `changes` lists the tools anew whenever it hears that they have changed, until
// they are others.
// Prints one line of JSON: the revision, the server's name, the names of its tools and prompts, the text of each call, an
// error, and the tools after the change.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const require = createRequire(join(job.packages, 'package.json'));
const { Client } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

let changes = 0;
let wake = () => {};
const changed = () => {
  changes += 1;
  wake();
};
const client = new Client(
  { name: 'fumehood-test', version: '2' },
  {
    capabilities: {},
    versionNegotiation: { mode: job.mode },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed } },
  },
);
const [command, ...args] = job.command;
await client.connect(new StdioClientTransport({ command, args, env: job.env, stderr: 'inherit' }));
const names = async () => (await client.listTools({}, { cacheMode: 'refresh' })).tools.map((tool) => tool.name);

const told = {
  version: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion()?.name,
  tools: await names(),
  texts: [],
};
for (const call of job.calls) {
  const result = await client.callTool(call);
  told.texts.push(result.content[0].text);
}
told.unknown = await client.callTool({ name: 'nobodys', arguments: {} }).then(
  () => 'not refused',
  (error) => error.message,
);
writeFileSync(job.listed, '');
if (job.changes) {
  do {
    while (changes === 0) await new Promise((resolve) => (wake = resolve));
    changes = 0;
    told.then = await names();
  } while (String(told.then) === String(told.tools));
}
console.log(JSON.stringify(told));
await client.close();

// A server with everything that the official conformance suite asks for, on the official SDK, in both eras of the protocol:
// sessions as of 2025-11-25 and before, and requests that stand alone as of 2026-07-28, at one address.
//
// Usage: node main.mjs PACKAGES [PORT]: a folder with node_modules, and the port on 127.0.0.1. Without a port, $PORT or any; it
// is printed.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { contents } from './contents.mjs';
import { offers } from './offers.mjs';
import { questions } from './questions.mjs';
import { rounds } from './rounds.mjs';

const require = createRequire(join(process.argv[2], 'package.json'));
const sdk = require('@modelcontextprotocol/server');
const {
  NodeStreamableHTTPServerTransport,
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  toWebRequest,
} = require('@modelcontextprotocol/node');

const codec = sdk.createRequestStateCodec({ key: randomUUID() + randomUUID() });

// How many spare entries each list has lost, and the spare entries of each session.
const gone = { tool: 0, prompt: 0 };
const followed = new Set();

// A list that is said to have changed has: it has one spare entry less each time, until all of them are there again.
function change(kind) {
  gone[kind] = (gone[kind] + 1) % 4;
  for (const spares of followed) trim(spares, kind);
  modern.notify[`${kind}sChanged`]();
}

function trim(spares, kind) {
  for (const [index, spare] of spares[kind].entries()) {
    if (index < gone[kind] && spare.enabled) spare.disable();
    if (index >= gone[kind] && !spare.enabled) spare.enable();
  }
}

// One instance for each session, and one for each request that stands alone.
function serverOf({ era }) {
  const server = new sdk.McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: 'Answers what the conformance suite asks.',
      requestState: { verify: codec.verify },
    },
  );
  const spares = { tool: [], prompt: [] };
  for (const part of [contents, questions, rounds, offers]) part({ server, sdk, codec, era, spares, change });
  for (const kind of ['tool', 'prompt']) trim(spares, kind);
  if (era === 'legacy') {
    followed.add(spares);
    server.server.onclose = () => void followed.delete(spares);
  }
  return server;
}

const modern = sdk.createMcpHandler(serverOf, { legacy: 'reject' });
const answerModern = toNodeHandler(modern);
const sessions = new Map();

// Events of streams that a client may come back for.
function memory() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return String(events.length);
    },
    async replayEventsAfter(last, { send }) {
      const from = Number(last);
      const stream = events[from - 1]?.stream;
      if (stream === undefined) throw new Error('no such event');
      for (const [index, event] of events.entries()) {
        // What opens a stream has no message in it.
        const isNew = index >= from && event.stream === stream && Object.keys(event.message).length > 0;
        if (isNew) await send(String(index + 1), event.message);
      }
      return stream;
    },
  };
}

async function answerLegacy(request, response, body) {
  const id = request.headers['mcp-session-id'];
  const known = sessions.get(id);
  if (id !== undefined && known === undefined) {
    const error = { code: -32001, message: 'Session not found' };
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    return;
  }
  if (known !== undefined) return known.handleRequest(request, response, body);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: memory(),
    retryInterval: 100,
    onsessioninitialized: (session) => void sessions.set(session, transport),
    onsessionclosed: (session) => void sessions.delete(session),
  });
  await serverOf({ era: 'legacy' }).connect(transport);
  return transport.handleRequest(request, response, body);
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return null;
  }
}

const isOurHost = localhostHostValidation();
const isOurOrigin = localhostOriginValidation();

const listener = createServer(async (request, response) => {
  try {
    if (!isOurHost(request, response) || !isOurOrigin(request, response)) return;
    const body = await read(request);
    if (body === null) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }));
    } else if (await sdk.isLegacyRequest(await toWebRequest(request, body), body)) {
      await answerLegacy(request, response, body);
    } else {
      await answerModern(request, response, body);
    }
  } catch (error) {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
});

listener.listen(Number(process.argv[3] ?? process.env.PORT ?? 0), '127.0.0.1', () => {
  console.error(`listening on port ${listener.address().port}`);
});

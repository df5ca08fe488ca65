// Runs inside a cell. Speaks JSON-RPC over stdio as a server does, and fetches what it is asked to.
//   get {url}               the page, or why there is none
//   send {url, method, key} status and page, asked for with the variable `key` as a token
//   variable {name}         what a variable of this process holds
//   open {url}              begins to read a page that does not end, and says what came first
//   state {url}             whether that page is still coming, or how it ended

import { Agent, request as ask } from 'node:https';
import { createInterface } from 'node:readline';

const agent = new Agent({ keepAlive: true });
const streams = new Map();

const request = (url, seen, options = {}) =>
  new Promise(resolve =>
    ask(url, { agent, timeout: 10_000, ...options }, seen(resolve))
      .on('error', error => resolve({ error: error.code }))
      .end(),
  );

const whole = resolve => response => {
  let text = '';
  response.setEncoding('utf8').on('data', piece => (text += piece));
  response.on('end', () => resolve({ status: response.statusCode, text }));
};

const methods = {
  get: ({ url }) => request(url, whole),
  send: ({ url, method, key }) =>
    request(url, whole, { method, headers: { authorization: `Bearer ${process.env[key]}` } }),
  variable: ({ name }) => ({ text: process.env[name] ?? '' }),
  open: ({ url }) =>
    request(url, resolve => response => {
      streams.set(url, 'open');
      const ended = how => streams.get(url) === 'open' && streams.set(url, how);
      response.setEncoding('utf8').on('data', text => resolve({ text: text.trim() }));
      response.on('error', error => ended(error.code)).on('end', () => ended('the end'));
    }),
  state: ({ url }) => ({ text: streams.get(url) ?? 'never opened' }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: await methods[method](params) }));
}
process.exit(0);

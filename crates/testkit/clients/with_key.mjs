// Passes requests on with a key, for clients that have no place for one.
//
// Usage: node with_key.mjs PORT PATH, with the key in $KEY: to that port and path of 127.0.0.1. Prints the port on which it
// listens. A `Host` or `Origin` that names this port is rewritten to that one; others stay as they are.

import { createServer, request as ask } from 'node:http';

const [port, path] = process.argv.slice(2);

const listener = createServer((request, response) => {
  const own = String(listener.address().port);
  const headers = { ...request.headers, authorization: `Bearer ${process.env.KEY}` };
  for (const name of ['host', 'origin']) {
    if (headers[name]?.endsWith(`:${own}`)) headers[name] = headers[name].slice(0, -own.length) + port;
  }
  const passed = ask({ host: '127.0.0.1', port, path, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));

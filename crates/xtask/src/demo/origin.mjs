// Plays hosts of the internet: one web server with TLS for each name, each on a port of its own of this machine.
// Arguments: certificate, its key, names. Prints one line of JSON with the port of each name, and ends with its stdin.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [certificate, key, ...names] = process.argv.slice(2);
const identity = { cert: readFileSync(certificate), key: readFileSync(key) };

const pages = {
  '/': (request, response) => response.end(`Hello from ${request.headers.host}.`),
  // Never ends by itself.
  '/live': (request, response) => {
    const timer = setInterval(() => response.write('tick\n'), 100);
    response.on('close', () => clearInterval(timer));
    response.write('tick\n');
  },
};

const ports = {};
for (const name of names) {
  const server = createServer(identity, (request, response) => {
    const page = pages[request.url];
    if (page) page(request, response);
    else response.writeHead(404).end();
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  ports[name] = server.address().port;
}
console.log(JSON.stringify(ports));
process.stdin.on('close', () => process.exit(0)).resume();

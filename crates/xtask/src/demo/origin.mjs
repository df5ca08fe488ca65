// Plays hosts of the internet: one web server with TLS for each name, each on a port of its own of this machine.
// Arguments: certificate, its key, a file for what arrived, names. Prints one line of JSON with the port of each name, and
// ends with its stdin.

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [certificate, key, arrivals, ...names] = process.argv.slice(2);
const identity = { cert: readFileSync(certificate), key: readFileSync(key) };

const pages = {
  '/': (request, response) => response.end(`Hello from ${request.headers.host}.`),
  // Careless: repeats what it was shown.
  '/me': (request, response) => response.end(`You showed me: ${request.headers.authorization}`),
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
    const { host, authorization = '' } = request.headers;
    appendFileSync(arrivals, `${JSON.stringify({ host, method: request.method, authorization })}\n`);
    const page = pages[request.url];
    if (page) page(request, response);
    else response.writeHead(404).end();
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  ports[name] = server.address().port;
}
console.log(JSON.stringify(ports));
process.stdin.on('close', () => process.exit(0)).resume();

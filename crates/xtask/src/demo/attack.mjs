// Tries what a hostile tool would try, and prints one line of JSON for each: what, whether it worked, and a word on it.
// Arguments: a private key of the user, how many processes to start.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [key, processes] = process.argv.slice(-2);

const tell = (what, worked, detail) => console.log(JSON.stringify({ what, worked, detail }));

function read(what, path) {
  try {
    tell(what, true, `${readFileSync(path).length} bytes`);
  } catch (error) {
    tell(what, false, error.code);
  }
}

const reach = () =>
  new Promise(resolve => {
    const socket = connect({ host: '169.254.169.254', port: 80, timeout: 2000 });
    const end = (worked, detail) => {
      socket.destroy();
      resolve(tell('connect to 169.254.169.254', worked, detail));
    };
    socket.on('connect', () => end(true, 'connected'));
    // Packets that leave and are not answered have left all the same.
    socket.on('timeout', () => end(true, 'sent, no answer within 2 s'));
    socket.on('error', error => end(false, error.code));
  });

async function fork(count) {
  const children = [];
  let refused;
  for (let index = 0; index < count && refused === undefined; index += 1) {
    refused = await new Promise(resolve => {
      const child = spawn('sleep', ['20'], { stdio: 'ignore' });
      child.on('spawn', () => resolve(children.push(child) && undefined));
      child.on('error', error => resolve(error.code));
    });
  }
  for (const child of children) child.kill('SIGKILL');
  tell(`start ${count} processes`, children.length === count, `${children.length} started${refused ? `, then ${refused}` : ''}`);
}

read('read a key below ~/.ssh', key);
read('read /etc/shadow', '/etc/shadow');
await reach();
await fork(Number(processes));

// An OpenID provider on loopback: npm's `oidc-provider`, told by lines of JSON on stdin, each answered by one on stdout.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createInterface } from 'node:readline';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';

// What the provider says of itself is not an answer.
console.info = console.error;
console.log = console.error;

const [packages] = process.argv.slice(2);
const { default: Provider } = await import(
  pathToFileURL(createRequire(`${packages}/`).resolve('oidc-provider')),
);

const REDIRECT = 'http://127.0.0.1/callback';
const CLIENT = { client_id: 'app', client_secret: 'for-this-test-only' };
let keys = [];
let handler;
let issuer;

function newKey(kid, alg) {
  const kinds = {
    RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    EdDSA: () => generateKeyPairSync('ed25519'),
  };
  return { ...kinds[alg]().privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

function serve() {
  const alg = keys[0].alg;
  const provider = new Provider(issuer, {
    jwks: { keys },
    clients: [{
      ...CLIENT,
      application_type: 'native',
      grant_types: ['client_credentials', 'authorization_code'],
      response_types: ['code'],
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: alg,
    }],
    scopes: ['openid', 'tools'],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, tid: 't1' }) }),
    extraTokenClaims: (ctx, token) => ({ tid: 't1', groups: [token.kind === 'AccessToken' ? 'people' : 'programs'] }),
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA'] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (ctx, resource) => ({
          scope: 'tools',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg } },
        }),
        useGrantedResource: () => true,
      },
    },
  });
  handler = provider.callback();
}

async function token(parameters) {
  const body = new URLSearchParams({ ...CLIENT, ...parameters });
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body });
  const document = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(document));
  return document;
}

// A person in a browser: signs in, agrees, and the client gets its code (RFC 6749, section 4.1, with RFC 7636).
async function signIn(subject, resource) {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const parameters = {
    client_id: CLIENT.client_id, response_type: 'code', scope: 'openid tools', resource, nonce: 'n-1',
    redirect_uri: REDIRECT, code_challenge: challenge, code_challenge_method: 'S256',
  };
  const cookies = new Map();
  const visit = async (url, body) => {
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET', body, redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value) cookies.set(name, value); else cookies.delete(name);
    }
    return answer;
  };
  let url = `${issuer}/auth?${new URLSearchParams(parameters)}`;
  let body;
  for (let step = 0; step < 20; step += 1) {
    const answer = await visit(url, body);
    body = undefined;
    const next = answer.headers.get('location');
    if (next?.startsWith(REDIRECT)) {
      const code = new URL(next).searchParams.get('code');
      return token({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier, resource });
    }
    if (next) {
      url = new URL(next, issuer).href;
    } else {
      const page = await answer.text();
      const prompt = /name="prompt" value="([a-z]+)"/.exec(page)?.[1];
      if (!prompt) throw new Error(`no form: ${answer.status} ${page.slice(0, 300)}`);
      body = new URLSearchParams({ prompt, login: subject, password: 'any' });
    }
  }
  throw new Error('the sign-in does not end');
}

const server = createServer((request, response) => handler(request, response));
const orders = {
  begin: async ({ kid, alg }) => {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${server.address().port}`;
    keys = [newKey(kid, alg)];
    serve();
    return { issuer };
  },
  // The new key signs; the old ones are still published, or not.
  rotate: async ({ kid, alg, keep }) => {
    keys = [newKey(kid, alg), ...(keep ? keys : [])];
    serve();
    return {};
  },
  program: ({ resource }) => token({ grant_type: 'client_credentials', scope: 'tools', resource }),
  // Without a resource the provider gives a token that only itself can read.
  opaque: () => token({ grant_type: 'client_credentials' }),
  person: ({ subject, resource }) => signIn(subject, resource),
  down: async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    return {};
  },
  up: async () => {
    await new Promise((resolve) => server.listen(Number(new URL(issuer).port), '127.0.0.1', resolve));
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const { order, ...rest } = JSON.parse(line);
    answer = await orders[order](rest);
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);

// Signs kubectl in with Boxgate (docs/guides/kubernetes-sign-in.md): node boxgate-login.mjs <issuer> <client id>
// It prints an ExecCredential with an id_token. Tokens are kept in ~/.kube/cache/boxgate, in files of mode 0600.
import { createHash, randomBytes } from 'node:crypto';
import { on, once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { homedir } from 'node:os';
import path from 'node:path';

process.on('uncaughtException', ({ message, cause }) => {
  console.error(`boxgate-login: ${message}${cause ? `: ${cause.message}` : ''}`);
  process.exit(1);
});

const [issuer, client_id] = process.argv.slice(2);
if (!client_id) throw new Error('usage: boxgate-login.mjs <issuer> <client id>');
const scope = 'openid email groups offline_access';
const hash = (text, encoding) => createHash('sha256').update(text).digest(encoding);
const file = path.join(homedir(), '.kube', 'cache', 'boxgate', `${hash(`${issuer} ${client_id}`, 'hex')}.json`);
const expiryOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url')).exp * 1000;

const kept = await readFile(file, 'utf8').then(JSON.parse, () => ({}));
const isFresh = kept.id_token && expiryOf(kept.id_token) > Date.now() + 60_000;
const { id_token } = isFresh ? kept : await newTokens();
const status = { token: id_token, expirationTimestamp: new Date(expiryOf(id_token)).toISOString() };
console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));

async function newTokens() {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(30_000) });
  const server = await response.json();
  const { refresh_token } = kept;
  const refreshed = refresh_token && (await ask(server, { grant_type: 'refresh_token', refresh_token }));
  // Only a refresh token that has ended is a reason to ask the person again; an outage is none.
  const tokens = !refreshed || refreshed.error === 'invalid_grant' ? await signIn(server) : refreshed;
  if (tokens.error) throw new Error(`${tokens.error}: ${tokens.error_description}`);
  if (!tokens.id_token) throw new Error(`no id_token: the client ${client_id} must be allowed the scope openid`);
  return keep({ refresh_token, ...tokens });
}

async function ask({ token_endpoint }, parameters) {
  const body = new URLSearchParams({ client_id, ...parameters });
  const response = await fetch(token_endpoint, { method: 'POST', body, signal: AbortSignal.timeout(30_000) });
  return response.json();
}

async function signIn(server) {
  const [state, code_verifier] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')];
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const redirect_uri = `http://127.0.0.1:${listener.address().port}/callback`;
  const pkce = { code_challenge: hash(code_verifier, 'base64url'), code_challenge_method: 'S256' };
  const wish = { response_type: 'code', client_id, redirect_uri, scope, state, ...pkce };
  console.error(`To sign in, open ${server.authorization_endpoint}?${new URLSearchParams(wish)}`);
  for await (const [request, response] of on(listener, 'request', { signal: AbortSignal.timeout(300_000) })) {
    const answer = new URL(request.url, redirect_uri).searchParams;
    response.end('You can close this window.\n');
    if (answer.get('state') !== state) continue;
    listener.close();
    if (answer.has('error')) throw new Error(answer.get('error_description') ?? answer.get('error'));
    return ask(server, { grant_type: 'authorization_code', code: answer.get('code'), redirect_uri, code_verifier });
  }
}

async function keep(tokens) {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.${process.pid}`, JSON.stringify(tokens), { mode: 0o600 });
  await rename(`${file}.${process.pid}`, file);
  return tokens;
}

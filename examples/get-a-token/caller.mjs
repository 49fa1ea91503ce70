import { createInterface } from 'node:readline';

const { BASE, CLIENT_ID, CLIENT_SECRET, API } = process.env;
let kept; // a promise: calls at the same time share one request
let renewAt = 0;

async function requestToken() {
  const basic = btoa(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`);
  const answer = await fetch(`${BASE}/auth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    signal: AbortSignal.timeout(5000),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { access_token, expires_in = 0 } = await answer.json();
  renewAt = performance.now() + expires_in * 900;
  return access_token;
}

function token() {
  if (performance.now() >= renewAt) {
    renewAt = Infinity;
    kept = requestToken();
    kept.catch(() => (renewAt = 0));
  }
  return kept;
}

async function callApi() {
  const call = (token) =>
    fetch(API, { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(5000) });
  const used = await token();
  const response = await call(used);
  if (response.status !== 401) return response;
  if (used === (await kept)) renewAt = 0; // the token was revoked
  return call(await token());
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await callApi().then(({ status }) => status, String));
}

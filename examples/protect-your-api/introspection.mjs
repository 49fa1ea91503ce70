import { createServer } from 'node:http';
const { BOXGATE_URL, CLIENT_ID, CLIENT_SECRET, AUDIENCE, PORT } = process.env;
const basic = btoa(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`);
const needed = { GET: 'orders:read', HEAD: 'orders:read', POST: 'orders:write' };

async function statusFor({ method, headers }) {
  const token = /^Bearer (\S+)$/i.exec(headers.authorization)?.[1];
  if (token === undefined) return 401;
  const request = {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ token }),
  };
  const answer = await fetch(`${BOXGATE_URL}/auth/introspect`, { ...request, signal: AbortSignal.timeout(2000) });
  if (answer.status !== 200) throw new Error(`Boxgate answered ${answer.status}`);
  const { active, aud = [], scope = '' } = await answer.json();
  if (active !== true || !aud.includes(AUDIENCE)) return 401;
  return scope.split(' ').includes(needed[method]) ? 200 : 403;
}

createServer(async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(error);
    return 503;
  });
  response.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
  response.end(status === 200 ? '[{ "order": 7 }]' : '');
}).listen(PORT, '127.0.0.1');

import { createServer } from 'node:http';
const { BOXGATE_URL, PORT } = process.env;

async function statusFor({ headers: { authorization = '' }, method, url }) {
  const headers = { Authorization: authorization, 'X-Original-Method': method, 'X-Original-URI': url };
  const options = { headers, redirect: 'error', signal: AbortSignal.timeout(2000) };
  const { status } = await fetch(`${BOXGATE_URL}/auth/check?app=orders.example`, options);
  if (![200, 401, 403].includes(status)) throw new Error(`Boxgate answered ${status}`);
  return status;
}

createServer(async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(error);
    return 503;
  });
  response.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
  response.end(status === 200 ? '[{ "order": 7 }]' : '');
}).listen(PORT, '127.0.0.1');

import express from 'express';

const check = 'http://127.0.0.1:8080/boxes/default/auth/check?app=orders.example';
const api = express();
api.use(async ({ headers: { authorization = '' }, method, originalUrl }, response, next) => {
  response.set('Access-Control-Allow-Origin', 'http://127.0.0.1:3001');
  response.set('Access-Control-Allow-Headers', 'Authorization');
  if (method === 'OPTIONS') return response.status(204).end();
  const headers = { Authorization: authorization, 'X-Original-Method': method, 'X-Original-URI': originalUrl };
  const options = { headers, redirect: 'error', signal: AbortSignal.timeout(2000) };
  const { status } = await fetch(check, options).catch(() => ({ status: 503 }));
  if (status === 200) return next();
  response.status([401, 403].includes(status) ? status : 503).end();
});
api.get('/orders', (request, response) => response.send('order 7'));
api.listen(8000, '127.0.0.1');

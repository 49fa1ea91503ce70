import express from 'express';
import { auth } from 'express-openid-connect';

const web = express();
web.use(
  auth({
    issuerBaseURL: 'http://127.0.0.1:8080/boxes/default',
    baseURL: 'http://127.0.0.1:3000',
    clientID: 'web',
    clientSecret: process.env.CLIENT_SECRET,
    secret: process.env.COOKIE_SECRET,
    authorizationParams: { response_type: 'code', scope: 'openid email' },
    authRequired: false,
  }),
);
web.get('/', async ({ oidc }, response) => {
  if (!oidc.isAuthenticated()) return response.send('<form action="/login"><button>Sign in</button></form>');
  const { access_token } = oidc.accessToken.isExpired() ? await oidc.accessToken.refresh() : oidc.accessToken;
  const headers = { Authorization: `Bearer ${access_token}` };
  const answer = await fetch('http://127.0.0.1:8000/orders', { headers });
  const orders = answer.ok ? await answer.text() : `none, because the API answered ${answer.status}`;
  response.type('text').send(`Hello, ${oidc.user.email}! Your orders: ${orders}.`);
});
web.listen(3000, '127.0.0.1');

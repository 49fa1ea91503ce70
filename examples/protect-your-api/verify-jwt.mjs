import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
const { BOXGATE_URL, ISSUER, AUDIENCE, PORT } = process.env;
const keys = createRemoteJWKSet(new URL(`${BOXGATE_URL}/.well-known/jwks.json`), { timeoutDuration: 2000 });
const expected = { issuer: ISSUER, audience: AUDIENCE, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['exp'] };
const needed = { GET: 'orders:read', HEAD: 'orders:read', POST: 'orders:write' };
const invalidToken = /^ERR_(JWT|JWS|JWKS_NO_MATCHING_KEY|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

async function statusFor({ method, headers }) {
  const token = /^Bearer (\S+)$/i.exec(headers.authorization)?.[1];
  if (token === undefined) return 401;
  try {
    const { payload } = await jwtVerify(token, keys, expected);
    return `${payload.scope ?? ''}`.split(' ').includes(needed[method]) ? 200 : 403;
  } catch (error) {
    if (invalidToken.test(error.code)) return 401;
    console.error(error);
    return 503;
  }
}

createServer(async (request, response) => {
  const status = await statusFor(request);
  response.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
  response.end(status === 200 ? '[{ "order": 7 }]' : '');
}).listen(PORT, '127.0.0.1');

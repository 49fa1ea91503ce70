// An app that signs people in with openid-client. With `./boxgate dev examples/people` in another terminal:
// npx node examples/app/app.js, and open http://127.0.0.1:3000
import { createServer } from 'node:http';
import * as openid from 'openid-client';

const issuer = new URL(process.env.ISSUER ?? 'http://127.0.0.1:8080/boxes/default');
// Plain http is for a try on one machine only.
const options = { execute: [openid.allowInsecureRequests] };
const config = await openid.discovery(issuer, process.env.CLIENT_ID ?? 'app', undefined, openid.None(), options);

const app = createServer(async (request, response) => {
  const url = new URL(request.url, `http://127.0.0.1:${app.address().port}`);
  try {
    if (url.pathname === '/callback') {
      const [pkceCodeVerifier, expectedState] = /attempt=([^;]*)/.exec(request.headers.cookie)?.[1].split('|') ?? [];
      const tokens = await openid.authorizationCodeGrant(config, url, { pkceCodeVerifier, expectedState });
      const person = await openid.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
      response.end(`Hello, ${person.email}! You are user ${person.sub}.\n`);
    } else {
      const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
      const code_challenge = await openid.calculatePKCECodeChallenge(verifier);
      const redirect_uri = new URL('/callback', url).href;
      const wish = { redirect_uri, scope: 'openid email', state, code_challenge, code_challenge_method: 'S256' };
      response.setHeader('Set-Cookie', `attempt=${verifier}|${state}; HttpOnly; SameSite=Lax; Path=/callback`);
      response.writeHead(303, { Location: openid.buildAuthorizationUrl(config, wish).href }).end();
    }
  } catch (error) {
    response.writeHead(400).end(`Signing in did not work: ${error.error_description ?? error.message}\n`);
  }
});
app.on('error', (error) => {
  console.error(`${error.message}: with PORT=<another> the app listens there`);
  process.exitCode = 1;
});
app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => console.log(`open http://127.0.0.1:${app.address().port}`));

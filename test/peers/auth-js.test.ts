import { expect } from 'chai';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isObject } from '../../crds/path.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const clientSecret = 'a secret of the client';

/** `Auth` of `@auth/core`: the whole of its server. */
type AuthHandler = (request: Request, config: object) => Promise<Response>;

describe('an app with Auth.js', () => {
  let box: HttpsBox;
  let authHandler: AuthHandler;
  let app = '';

  withHttpsBox((started) => (box = started));
  before(async () => {
    authHandler = await loadAuth();
    app = await box.serve(createApp);
    const auth = { authorization_code: { redirect_uri: `${app}/auth/callback/boxgate` } };
    const more = { secret: clientSecret, id_token_claims: ['email'] };
    await box.api.declare('default', [
      { kind: 'Client', id: 'app', grant_types: ['authorization_code'], auth, ...more },
    ]);
  });

  /** Serves Auth.js alone: all of its defaults, and the settings that a deployment has to give. */
  function createApp(url: string) {
    const config = {
      providers: [{ id: 'boxgate', name: 'Boxgate', type: 'oidc', issuer: box.issuer, clientId: 'app', clientSecret }],
      secret: 'what the app seals its cookies with',
      trustHost: true,
    };
    return (incoming: IncomingMessage, outgoing: ServerResponse) => {
      void answer((request) => authHandler(request, config), url, [incoming, outgoing]);
    };
  }

  it('signs a person in with a code, and its session has the email', async () => {
    const visitor = newVisitor();
    const session = async (): Promise<unknown> => JSON.parse((await visitor.visit(`${app}/auth/session`)).text);
    expect(await session()).to.equal(null);
    // The form of Auth.js that leads to Boxgate, and the way back to the app, which serves nothing else.
    await visitor.visit(`${app}/auth/signin`, ({ href }) => href === `${app}/`);
    expect(await session()).to.have.deep.property('user', { email: ann.email });
  });
});

/** Loads Auth.js without its types, which would declare the whole DOM in every file of the project. */
async function loadAuth(): Promise<AuthHandler> {
  const module: unknown = await import(import.meta.resolve('@auth/core'));
  if (isObject(module) && isAuthHandler(module['Auth'])) return module['Auth'];
  throw new TypeError('@auth/core has no function Auth');
}

function isAuthHandler(value: unknown): value is AuthHandler {
  return typeof value === 'function';
}

/** Answers a request of Node with a handler that speaks the requests and responses of fetch. */
async function answer(
  handle: (request: Request) => Promise<Response>,
  url: string,
  [incoming, outgoing]: readonly [IncomingMessage, ServerResponse],
): Promise<void> {
  const { method = 'GET' } = incoming;
  const body = method === 'POST' ? new Uint8Array(await buffer(incoming)) : null;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  const response = await handle(new Request(new URL(incoming.url ?? '/', url), { method, body, headers }));
  outgoing.setHeaders(response.headers);
  outgoing.writeHead(response.status).end(await response.text());
}

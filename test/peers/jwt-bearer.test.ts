import { expect } from 'chai';
import express from 'express';
import { auth } from 'express-oauth2-jwt-bearer';
import { isObject } from '../../crds/path.ts';
import { clientToken } from '../support/client-token.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';

const secret = 'a secret of the client';
const audience = 'https://api.shop.example';

describe('an API with express-oauth2-jwt-bearer', () => {
  let box: HttpsBox;

  withHttpsBox((started) => (box = started));
  before(() => {
    const client = { kind: 'Client', grant_types: ['client_credentials'], secret } as const;
    return box.api.declare('default', [
      { ...client, id: 'jwt', auth: { client_credentials: { token_format: 'jwt' } } },
      { ...client, id: 'opaque' },
    ]);
  });

  /** Starts the API, which fetches the metadata and the keys of the box with the first request. */
  const start = () =>
    box.serve(() => {
      const routes = express();
      // Express prints each refused request elsewhere.
      routes.set('env', 'test');
      routes.use(auth({ issuerBaseURL: box.issuer, audience }));
      routes.get('/', ({ auth: accepted }, response) => void response.json(payloadOf(accepted)));
      return routes;
    });

  const tokenFor = (client: string, wanted: string) => clientToken(box.issuer, client, secret, { audience: wanted });
  const ask = (api: string, token: string) => fetch(api, { headers: { Authorization: `Bearer ${token}` } });

  it('accepts a JWT for its audience', async () => {
    const response = await ask(await start(), await tokenFor('jwt', audience));
    expect(response.status).to.equal(200);
    expect(await response.json()).to.include({ iss: box.issuer, aud: audience, client_id: 'jwt', sub: 'jwt' });
  });

  it('refuses a JWT for another audience, and an opaque token', async () => {
    const api = await start();
    const other = await ask(api, await tokenFor('jwt', 'https://other.example'));
    expect(other.status).to.equal(401);
    expect(other.headers.get('www-authenticate')).to.match(
      /^Bearer realm="api", error="invalid_token", error_description="Unexpected 'aud' value"/,
    );
    expect((await ask(api, await tokenFor('opaque', audience))).status).to.equal(401);
  });

  it('refuses a JWT of a key that the box no longer publishes', async () => {
    const token = await tokenFor('jwt', audience);
    expect((await ask(await start(), token)).status).to.equal(200);
    await ownerQuery(box.api, 'DELETE FROM boxgate.signing_key WHERE box = $1', ['default']);
    // Keys are read again when the configuration of the box moves.
    await box.api.declare('default', [{ kind: 'Client', id: 'next', grant_types: [] }]);
    const api = await start();
    expect((await ask(api, token)).status).to.equal(401);
    expect((await ask(api, await tokenFor('jwt', audience))).status, 'the next key').to.equal(200);
  });
});

/** Reads what the library found: another library of these tests declares `request.auth` as something else. */
function payloadOf(accepted: unknown): unknown {
  return isObject(accepted) ? accepted['payload'] : undefined;
}

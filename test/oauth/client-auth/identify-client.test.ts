import { expect } from 'chai';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { OAuthError } from '../../../api/oauth/oauth-error.ts';
import { revoke } from '../../../api/oauth/session/end-session.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { app, back, codeOf, verifier } from '../authorization/code-flow-requests.ts';
import type { Person } from '../authorization/code-flow-requests.ts';
import { makeCodeFlow } from '../authorization/code-flow-world.ts';
import type { CodeFlow } from '../authorization/code-flow-world.ts';
import { NO_CHECKS } from '../no-checks.ts';
import { basic } from '../requests.ts';
import { formRequest } from '../world.ts';

// Clients of Go (golang.org/x/oauth2) and others send Basic although they have no secret.
describe('Basic with an empty secret (RFC 6749 section 2.3.1)', () => {
  const secret = generateClientSecret();
  let world: CodeFlow['world'];
  let services: OAuthServices;
  let person: Person;

  before(async () => {
    const flow = await makeCodeFlow();
    world = flow.world;
    services = flow.one;
    const auth = { client_credentials: { refresh_token: true } };
    const machine = { kind: 'Client', grant_types: ['client_credentials'], auth, secret } as const;
    const box = await flow.newBox(
      {},
      { ...machine, id: 'confidential' },
      { ...machine, id: 'off', active: false },
      { ...app, id: 'pkce', secret, auth: { authorization_code: { redirect_uri: back, secret_required: false } } },
    );
    const settings = { redirect_uri: back, refresh_token: true };
    await world.declare(box, { ...app, auth: { authorization_code: settings } });
    person = await flow.newPerson(box);
  });
  after(() => world.end());

  function send(fields: Readonly<Record<string, string>>, authorization: string) {
    return token(formRequest(fields, { box: person.box, authorization }), services, NO_CHECKS);
  }

  async function tokens(): Promise<TokenResponse> {
    const grant = { grant_type: 'authorization_code', redirect_uri: back, code_verifier: verifier };
    const response = await send({ ...grant, code: await codeOf(services, person) }, basic('app', ''));
    if (response === undefined) throw new Error('no such box');
    return response;
  }

  async function errorOf(work: Promise<unknown>): Promise<Pick<OAuthError, 'code' | 'client'> | undefined> {
    try {
      await work;
      return undefined;
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return { code: error.code, client: error.client };
    }
  }

  it('names a public client that redeems a code, refreshes and revokes', async () => {
    const { refresh_token = '' } = await tokens();
    const refreshed = await send({ grant_type: 'refresh_token', refresh_token }, basic('app', ''));
    const request = formRequest(
      { token: refreshed?.access_token ?? '' },
      { box: person.box, authorization: basic('app', '') },
    );
    expect(await revoke(request, services, NO_CHECKS)).to.equal(true);
  });

  const refused: [what: string, id: string, client: string | undefined][] = [
    ['a confidential client', 'confidential', 'confidential'],
    ['an inactive client', 'off', 'off'],
    ['an unknown client', 'nobody', undefined],
  ];
  for (const [what, id, client] of refused) {
    it(`is a failed authentication of ${what}`, async () => {
      const { refresh_token = '' } =
        (await send({ grant_type: 'client_credentials' }, basic('confidential', secret))) ?? {};
      for (const fields of [
        { grant_type: 'refresh_token', refresh_token },
        { grant_type: 'client_credentials' },
        { grant_type: 'authorization_code', code: 'x' },
      ]) {
        const error = await errorOf(send(fields, basic(id, '')));
        expect(error, fields.grant_type).to.deep.equal({ code: 'invalid_client', client });
      }
      const request = formRequest({ token: 'x' }, { box: person.box, authorization: basic(id, '') });
      expect(await errorOf(revoke(request, services, NO_CHECKS))).to.deep.equal({ code: 'invalid_client', client });
    });
  }

  it('is a failed authentication of a client that has a secret and need not send it', async () => {
    const fields = { grant_type: 'authorization_code', code: 'x' };
    expect(await errorOf(send(fields, basic('pkce', '')))).to.deep.equal({ code: 'invalid_client', client: 'pkce' });
  });

  it('gets a public client no token of its own', async () => {
    const error = await errorOf(send({ grant_type: 'client_credentials' }, basic('app', '')));
    expect(error).to.deep.equal({ code: 'invalid_client', client: 'app' });
  });
});

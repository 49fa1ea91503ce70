import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { openConnection } from '../support/connection.ts';
import type { Ask, Connection, Reply } from '../support/connection.ts';

const boxes = ['alpha', 'beta'] as const;
type Box = (typeof boxes)[number];

/** Credentials that one box issued to its client `same`. */
interface Given {
  readonly secret: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly jwt: string;
  readonly jwtSecret: string;
  readonly session: string;
}

function otherOf(box: Box): Box {
  return box === 'alpha' ? 'beta' : 'alpha';
}

describe('I4: two boxes with clients, policies and sessions of the same names', () => {
  let api: TestApi;
  let connection: Connection;
  const given = new Map<Box, Given>();

  before(async () => {
    api = await startApi({ environment: { BOXGATE_FAILURES_PER_CLIENT: '10000', BOXGATE_FAILURES_PER_BOX: '10000' } });
    connection = openConnection(api.url);
    for (const box of boxes) given.set(box, await settle(box));
  });
  after(async () => {
    connection.close();
    await api.stop();
  });

  /** Equal in both boxes but for the secrets, and the name, which tells whose it is. */
  async function settle(box: Box): Promise<Given> {
    const [secret, jwtSecret] = [generateClientSecret(), generateClientSecret()];
    const grants = { grant_types: ['client_credentials'], name: `of ${box}` };
    const auth = { client_credentials: { refresh_token: true } };
    const jwt = { client_credentials: { token_format: 'jwt' } };
    const link = ['same', 'jwt'].map((id) => ({ resourceType: 'Client', id }));
    await api.declare(box, [
      { kind: 'Client', id: 'same', secret, auth, ...grants },
      { kind: 'Client', id: 'jwt', secret: jwtSecret, auth: jwt, ...grants },
      { kind: 'AccessPolicy', id: 'same', engine: 'allow', link, description: `of ${box}` },
    ]);
    const issued = (await issue(box, 'same', secret)).json;
    const token = String(issued['access_token']);
    return {
      secret,
      token,
      jwtSecret,
      refreshToken: String(issued['refresh_token']),
      jwt: String((await issue(box, 'jwt', jwtSecret)).json['access_token']),
      session: String((await introspect(box, secret, token)).json['jti']),
    };
  }

  function of(box: Box): Given {
    const found = given.get(box);
    if (found === undefined) throw new Error('no such box');
    return found;
  }

  function send(box: Box, ask: Ask): Promise<Reply> {
    return connection.send({ ...ask, path: `/boxes/${box}${ask.path}` });
  }

  function form(
    box: Box,
    path: string,
    client: string,
    secret: string,
    fields: Record<string, string>,
  ): Promise<Reply> {
    const headers = { Authorization: `Basic ${btoa(`${client}:${secret}`)}` };
    return send(box, { method: 'POST', path, headers, body: new URLSearchParams(fields) });
  }

  function issue(box: Box, client: string, secret: string): Promise<Reply> {
    return form(box, '/auth/token', client, secret, { grant_type: 'client_credentials' });
  }

  function introspect(box: Box, secret: string, token: string): Promise<Reply> {
    return form(box, '/auth/introspect', 'same', secret, { token });
  }

  function bearer(box: Box, method: string, path: string, token: string, body?: object): Promise<Reply> {
    return send(box, { method, path, headers: { Authorization: `Bearer ${token}` }, body });
  }

  /** Whatever was tried in the other box, everything of this one works as before. */
  async function expectUntouched(box: Box): Promise<void> {
    const { secret, token, jwt } = of(box);
    for (const text of [token, jwt]) {
      expect((await introspect(box, secret, text)).json).to.include({ active: true });
      const own = await bearer(box, 'GET', '/Client/same', text);
      expect(own.status).to.equal(200);
      expect(own.json).to.include({ name: `of ${box}` });
    }
    expect((await issue(box, 'same', secret)).status).to.equal(200);
  }

  for (const box of boxes) {
    describe(`what ${box} gave`, () => {
      const other = otherOf(box);

      afterEach(() => expectUntouched(box));

      it('as a secret opens nothing in the other', async () => {
        expect((await issue(other, 'same', of(box).secret)).status).to.equal(401);
        expect((await introspect(other, of(box).secret, of(other).token)).status).to.equal(401);
        expect((await form(other, '/auth/revoke', 'same', of(box).secret, { token: of(other).token })).status).to.equal(
          401,
        );
        await expectUntouched(other);
      });

      for (const kind of ['token', 'jwt'] as const) {
        it(`as a ${kind} is refused and unknown in the other`, async () => {
          const text = of(box)[kind];
          for (const [method, path] of [
            ['GET', '/Client'],
            ['GET', '/Session'],
            ['GET', '/Client/same'],
            ['DELETE', '/Session'],
            ['DELETE', `/Session/${of(box).session}`],
            ['DELETE', '/AccessPolicy/same'],
          ] as const) {
            expect((await bearer(other, method, path, text)).status, `${method} ${path}`).to.equal(401);
          }
          expect((await introspect(other, of(other).secret, text)).json).to.deep.equal({ active: false });
        });

        it(`as a ${kind} is not revoked by the client of the same name in the other`, async () => {
          const reply = await form(other, '/auth/revoke', 'same', of(other).secret, { token: of(box)[kind] });
          expect(reply.status).to.equal(200);
        });
      }

      it('as a refresh token gets nothing in the other, and is not revoked there', async () => {
        const fields = { grant_type: 'refresh_token', refresh_token: of(box).refreshToken };
        expect((await form(other, '/auth/token', 'same', of(other).secret, fields)).status).to.equal(400);
        const unauthenticated = { method: 'POST', path: '/auth/token', body: { ...fields, client_id: 'same' } };
        expect((await send(other, unauthenticated)).status).to.equal(400);
        await form(other, '/auth/revoke', 'same', of(other).secret, { token: of(box).refreshToken });
        expect((await form(box, '/auth/token', 'same', of(box).secret, fields)).status).to.equal(200);
      });

      it('is found by no search of the other', async () => {
        for (const path of ['/Client?_count=1000', '/AccessPolicy?_count=1000', '/Session?_count=1000']) {
          const reply = await bearer(other, 'GET', path, of(other).token);
          expect(reply.status).to.equal(200);
          expect(reply.text).to.not.include(`of ${box}`);
          expect(reply.text).to.not.include(of(box).session);
        }
        expect((await bearer(other, 'GET', `/Session/${of(box).session}`, of(other).token)).status).to.equal(404);
        const own = await bearer(other, 'GET', '/Client/same', of(other).token);
        expect(own.json).to.include({ name: `of ${other}` });
      });

      it('is in no record of the audit trail of the other', async () => {
        const records = async (where: Box): Promise<readonly unknown[]> => {
          const { json } = await bearer(where, 'GET', '/AuditEvent?_count=1000', of(where).token);
          return Array.isArray(json['entry']) ? json['entry'].map((one: unknown) => one) : [];
        };
        const [theirs, ours] = [JSON.stringify(await records(other)), await records(box)];
        const ids = JSON.stringify(ours).match(/(?<="resourceType":"AuditEvent","id":")[^"]+/g) ?? [];
        expect(ids.length).to.be.greaterThan(2);
        expect(theirs).to.include(`"box":"${other}"`).and.not.include(`"box":"${box}"`);
        for (const id of ids) {
          expect(theirs).not.to.include(id);
          expect((await bearer(box, 'GET', `/AuditEvent/${id}`, of(box).token)).status).to.equal(200);
          expect((await bearer(other, 'GET', `/AuditEvent/${id}`, of(other).token)).status).to.equal(404);
        }
      });

      it('is not ended, changed or deleted by who may everything in the other', async () => {
        const { token } = of(other);
        await bearer(other, 'DELETE', `/Session/${of(box).session}`, token);
        await bearer(other, 'DELETE', '/Client/made', token);
        const body = {
          resourceType: 'Client',
          id: 'made',
          grant_types: ['client_credentials'],
          secret: 'a made secret',
        };
        expect((await bearer(other, 'PUT', '/Client/made', token, body)).status).to.equal(201);
        expect((await bearer(box, 'GET', '/Client/made', of(box).token)).status).to.equal(404);
        expect((await bearer(other, 'DELETE', '/Client/made', token)).status).to.equal(200);
      });

      it('lives on when the client of the same name is removed in the other', async () => {
        await api.remove(other, [{ kind: 'Client', id: 'same' }]);
        await expectUntouched(box);
        given.set(other, await settle(other));
      });

      it('has keys of its own: a JWT of one is signed by none of the other', async () => {
        const keys = async (where: Box): Promise<string> => {
          return (await send(where, { method: 'GET', path: '/.well-known/jwks.json' })).text;
        };
        const kid = /"kid":"([^"]+)"/.exec(Buffer.from(of(box).jwt.split('.')[0] ?? '', 'base64url').toString())?.[1];
        expect(await keys(box)).to.include(String(kid));
        expect(await keys(other)).to.not.include(String(kid));
      });
    });
  }
});

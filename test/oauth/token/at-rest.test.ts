import { expect } from 'chai';
import { createPrivateKey } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { parseRefreshToken } from '../../../api/credentials/refresh-token-text.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { sealedFor } from '../../../api/box/key-ring.ts';
import { basic } from '../requests.ts';
import { formRequest, makeWorld } from '../world.ts';
import type { World } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

describe('T-46 the database, read by its owner', () => {
  const generated = generateClientSecret();
  const chosen = 'a chosen secret, seldom seen';
  let world: World;
  let given: readonly TokenResponse[];
  let dump: string;

  before(async () => {
    world = await makeWorld();
    const settings = { refresh_token: true, refresh_rotation: true };
    const client = { kind: 'Client', grant_types: ['client_credentials'] } as const;
    await world.declare(
      'default',
      { ...client, id: 'opaque', secret: generated, auth: { client_credentials: settings } },
      { ...client, id: 'chosen', secret: chosen },
      { ...client, id: 'jwt', secret: generated, auth: { client_credentials: { ...settings, token_format: 'jwt' } } },
    );
    const issued = [
      await ask({ grant_type: 'client_credentials' }, basic('opaque', generated)),
      await ask({ grant_type: 'client_credentials' }, basic('chosen', chosen)),
      await ask({ grant_type: 'client_credentials' }, basic('jwt', generated)),
    ];
    const refreshed = issued.flatMap(({ refresh_token }, index) =>
      refresh_token === undefined
        ? []
        : [ask({ grant_type: 'refresh_token', client_id: ['opaque', '', 'jwt'][index] ?? '', refresh_token })],
    );
    given = [...issued, ...(await Promise.all(refreshed))];
    dump = await dumpOf(world);
  });
  after(() => world.end());

  async function ask(fields: Record<string, string>, authorization?: string): Promise<TokenResponse> {
    const response = await token(
      formRequest(fields, authorization === undefined ? {} : { authorization }),
      world.services,
      NO_CHECKS,
    );
    if (response === undefined) throw new Error('no such box');
    return response;
  }

  it('holds what it should, or the search below finds nothing for no reason', () => {
    for (const there of ['opaque', '$argon2id$', '$sha256$', '192.0.2.1', 'refresh_family', 'signing_key', 'ES256']) {
      expect(dump).to.contain(there);
    }
    expect(given).to.have.length(5);
  });

  it('holds no secret of a client', () => {
    for (const secret of [generated, chosen]) expectAbsent(secret, Buffer.from(secret));
    expectAbsent('the random part of the secret', Buffer.from(generated.slice(4), 'base64url').subarray(0, 32));
  });

  it('holds no access token and no random part of one', () => {
    for (const { access_token } of given) {
      expectAbsent(access_token, Buffer.from(access_token));
      if (!access_token.startsWith('bgt_')) expectAbsent('a signature', Buffer.from(access_token.split('.')[2] ?? ''));
      else expectAbsent('a random part', Buffer.from(access_token.slice(4), 'base64url').subarray(20, 52));
    }
  });

  it('holds no refresh token and no random part of one, also not of the successor that may be given again', () => {
    const tokens = given.flatMap(({ refresh_token }) => (refresh_token === undefined ? [] : [refresh_token]));
    expect(tokens).to.have.length(4);
    for (const text of tokens) {
      const parsed = parseRefreshToken(text);
      expectAbsent(text, Buffer.from(text));
      expectAbsent('the secret of a token', parsed?.tokenSecret ?? Buffer.alloc(0));
      expectAbsent('the secret of a family', parsed?.familySecret ?? Buffer.alloc(0));
    }
  });

  it('holds no private key that can be used, nor the secret number of one', async () => {
    const { rows } = await world.owner.query<{ kid: string; private_key: Buffer }>(
      'SELECT kid, private_key FROM boxgate.signing_key',
    );
    expect(rows).to.have.length(1);
    for (const { kid, private_key } of rows) {
      expect(() => createPrivateKey({ key: private_key, format: 'der', type: 'pkcs8' })).to.throw();
      const opened = createPrivateKey({
        key: world.sealing.open(private_key, sealedFor('default', kid)),
        format: 'der',
        type: 'pkcs8',
      });
      const { d = '' } = opened.export({ format: 'jwk' });
      expectAbsent('the secret number', Buffer.from(d, 'base64url'));
    }
  });

  /** In none of the ways to write bytes down. */
  function expectAbsent(what: string, bytes: Buffer): void {
    expect(bytes.length, what).to.be.at.least(16);
    for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      const text = bytes.toString(encoding).replace(/=+$/, '');
      // The ends of a base64 text change with what stands beside it.
      expect(dump.includes(text.slice(1, -2)), `${what} in ${encoding}`).to.equal(false);
    }
  }
});

/** Every row of every table, as text. */
async function dumpOf(world: World): Promise<string> {
  const { rows } = await world.owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE nspname = 'boxgate' AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const tables = rows.map(async ({ name }) => {
    const found = await world.owner.query<{ row: string }>(`SELECT t::text AS row FROM boxgate.${name} t`);
    return [name, ...found.rows.map(({ row }) => row)].join('\n');
  });
  return (await Promise.all(tables)).join('\n');
}

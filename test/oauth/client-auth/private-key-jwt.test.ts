import { expect } from 'chai';
import fc from 'fast-check';
import { createHmac, randomUUID } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { startApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import type { TestApi } from '../../support/api.ts';
import { assertion, assertionType, makeSigner, proof } from '../assertions.ts';
import type { AssertionParts, Signer } from '../assertions.ts';
import { basic, sendForm, sendJson, textOf } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';

/** The order of the curve P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

const algorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];
const issuer = 'http://boxgate.test/boxes/default';
const second = () => Math.floor(Date.now() / 1000);

describe('a client that authenticates by private_key_jwt', () => {
  let api: TestApi;
  let replica: TestApi;
  let key: Signer;
  let strange: Signer;
  const secret = generateClientSecret();

  before(async () => {
    const environment = { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' };
    api = await startApi({ environment });
    replica = await startApi({ environment, database: api.database });
    key = await makeSigner('ES256');
    strange = await makeSigner('ES256');
    const keys = await Promise.all(algorithms.slice(1).map((alg) => makeSigner(alg)));
    signers = [key, ...keys];
    const grant_types = ['client_credentials'];
    await api.declare('default', [
      { kind: 'Client', id: 'app', grant_types, jwks: { keys: signers.map(({ publicJwk }) => publicJwk) } },
      { kind: 'Client', id: 'other', grant_types, jwks: { keys: [strange.publicJwk] } },
      { kind: 'Client', id: 'both', grant_types, secret, jwks: { keys: [key.publicJwk] } },
      { kind: 'Client', id: 'off', grant_types, active: false, jwks: { keys: [key.publicJwk] } },
      { kind: 'Client', id: 'secret', grant_types, secret },
      { kind: 'Client', id: 'odd', grant_types, jwks: { keys: [strange.publicJwk] } },
      { kind: 'Client', id: 'mixed', grant_types, jwks: { keys: [strange.publicJwk] } },
    ]);
    await storeKeys('odd', oddKeys);
    await storeKeys('mixed', [...oddKeys, key.publicJwk]);
    await api.declare('beside', [{ kind: 'Client', id: 'app', grant_types, jwks: { keys: [key.publicJwk] } }]);
  });
  after(async () => {
    await replica.stop();
    await api.stop();
  });

  let signers: readonly Signer[] = [];
  /** As it was stored before keys were imported when they are declared. */
  const storeKeys = (id: string, keys: readonly object[]) =>
    ownerQuery(
      api,
      `WITH next AS (UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'default' RETURNING config_version)
       UPDATE boxgate.resource SET body = jsonb_set(body, '{jwks}', $2::jsonb), version = next.config_version FROM next
       WHERE box = 'default' AND id = $1`,
      [id, JSON.stringify({ keys })],
    );

  // Faulty in every way that a schema does not see.
  const oddKeys = [
    { kty: 'RSA', n: 'w'.repeat(342), e: 'A' },
    { kty: 'EC', crv: 'P-256' },
    { kty: 'OKP', crv: 'X', x: '!' },
  ];

  const url = (endpoint: string, of = api, box = 'default') => `${of.url}/boxes/${box}/auth/${endpoint}`;

  async function ask(text: string, fields: Fields = {}, of = api): Promise<Reply> {
    return sendForm(url('token', of), { grant_type: 'client_credentials', ...proof(text), ...fields });
  }

  const signed = (parts: AssertionParts = {}, by = key, client = 'app') => assertion(by, client, issuer, parts);

  it('gets a token with each algorithm that the metadata list', async () => {
    for (const signer of signers) {
      const { status, body } = await ask(await signed({}, signer));
      expect(status, `${signer.alg} ${JSON.stringify(body)}`).to.equal(200);
    }
    const metadata = await fetch(`${issuer.replace('http://boxgate.test', api.url)}/.well-known/openid-configuration`);
    expect(await metadata.json()).to.deep.include({
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      token_endpoint_auth_signing_alg_values_supported: algorithms,
    });
  });

  it('may send it as JSON, with its id, without a kid, and for the token endpoint', async () => {
    const body = { grant_type: 'client_credentials', client_id: 'app', ...proof(await signed()) };
    expect((await sendJson(url('token'), body)).status).to.equal(200);
    expect((await ask(await signed({ header: { kid: undefined } }))).status).to.equal(200);
    expect((await ask(await signed({ claims: { aud: `${issuer}/auth/token` } }))).status).to.equal(200);
    expect((await ask(await signed({ claims: { aud: [issuer, `${issuer}/auth/token`] } }))).status).to.equal(200);
    expect((await ask(await signed({ header: { typ: 'client-authentication+jwt' } }))).status).to.equal(200);
  });

  it('introspects and revokes with it', async () => {
    const token = textOf(await ask(await signed()), 'access_token');
    const seen = await sendForm(url('introspect'), { token, ...proof(await signed()) });
    expect(seen.body).to.include({ active: true, client_id: 'app' });
    expect((await sendForm(url('revoke'), { token, ...proof(await signed()) })).status).to.equal(200);
    expect((await sendForm(url('introspect'), { token, ...proof(await signed()) })).body).to.deep.equal({
      active: false,
    });
  });

  it('uses each assertion once, on all replicas together', async () => {
    let text = '';
    let statuses: readonly number[] = [503];
    // A machine that is too busy sends some away, perhaps the one whose assertion was good: then once more, with
    // another.
    while (statuses.includes(503)) {
      text = await signed();
      const uses = Array.from({ length: 20 }, (_, n) => ask(text, {}, n % 2 === 0 ? api : replica));
      statuses = (await Promise.all(uses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).to.have.length.at.most(1);
    }
    expect(statuses.toSorted()).to.deep.equal([200, ...Array<number>(19).fill(401)]);
    const late = await ask(text, {}, replica);
    expect(late.body['error_description']).to.match(/jti, was used before/);
    const again = await ask(await signed({ claims: { jti: 'shared' } }));
    const elsewhere = { grant_type: 'client_credentials' };
    const other = await assertion(key, 'app', issuer.replace('default', 'beside'), { claims: { jti: 'shared' } });
    expect(again.status, 'a jti is of a client of a box').to.equal(200);
    expect((await sendForm(url('token', api, 'beside'), { ...elsewhere, ...proof(other) })).status).to.equal(200);
    expect((await ask(await signed({ claims: { jti: 'shared' } }, strange, 'other'))).status).to.equal(200);
  });

  it('takes one without a jti, that ends in an hour, as libraries make it, and takes it once', async () => {
    const text = await signed({ claims: { jti: undefined, exp: second() + 3600 } });
    expect((await ask(text)).status).to.equal(200);
    const again = await ask(text, {}, replica);
    expect([again.status, again.body['error_description']]).to.deep.equal([
      401,
      'The assertion, or its jti, was used before: make a new one for each request',
    ]);
    // The same assertion with its other signature, which anybody can compute: (r, s) and (r, n - s).
    const end = text.lastIndexOf('.');
    const bytes = Buffer.from(text.slice(end + 1), 'base64url');
    const half = bytes.length / 2;
    const s = BigInt(`0x${bytes.toString('hex', half)}`);
    const other = Buffer.from((order - s).toString(16).padStart(2 * half, '0'), 'hex');
    const twin = `${text.slice(0, end)}.${Buffer.concat([bytes.subarray(0, half), other]).toString('base64url')}`;
    expect((await ask(twin)).body['error_description']).to.match(/used before/);
    expect((await ask(await signed({ claims: { jti: undefined, exp: second() + 3599 } }))).status).to.equal(200);
  });

  it('uses none up that is refused for its signature', async () => {
    const claims = { jti: randomUUID() };
    expect((await ask(await signed({ claims }, strange))).status).to.equal(401);
    expect((await ask(await signed({ claims }))).status).to.equal(200);
  });

  it('still authenticates in the other way that it has', async () => {
    const credentials = { grant_type: 'client_credentials' };
    expect((await sendForm(url('token'), credentials, basic('both', secret))).status).to.equal(200);
    expect((await ask(await signed({}, key, 'both'))).status).to.equal(200);
  });

  const refusedClaims: Record<string, [claims: () => NonNullable<AssertionParts['claims']>, description: RegExp]> = {
    'of another issuer': [() => ({ iss: 'other' }), /iss/],
    'of another subject': [() => ({ sub: 'other' }), /^Client authentication failed$/],
    'without an exp': [() => ({ exp: undefined }), /no exp/],
    'that has expired': [() => ({ exp: second() - 120 }), /expired/],
    'that ends too far ahead': [() => ({ exp: second() + 3700 }), /at most 3600 seconds/],
    'that is not valid yet': [() => ({ nbf: second() + 600, exp: second() + 600 }), /nbf/],
    'from the future': [() => ({ iat: second() + 600, exp: second() + 600 }), /iat/],
    'with an empty jti': [() => ({ jti: '' }), /jti/],
    'with an endless jti': [() => ({ jti: 'x'.repeat(257) }), /jti/],
    'for nobody': [() => ({ aud: undefined }), /no aud/],
    'for an empty list': [() => ({ aud: [] }), /aud/],
    'for another server': [() => ({ aud: 'https://elsewhere.example' }), /aud/],
    'for another box': [() => ({ aud: issuer.replace('default', 'beside') }), /aud/],
    'for this server and another one': [() => ({ aud: [issuer, 'https://elsewhere.example'] }), /aud/],
  };
  for (const [what, [claims, description]] of Object.entries(refusedClaims)) {
    it(`is refused with an assertion ${what}, and told why`, async () => {
      const { status, body } = await ask(await signed({ claims: claims() }));
      expect([status, body['error']]).to.deep.equal([401, 'invalid_client']);
      expect(body['error_description']).to.match(description);
    });
  }

  /** Made by hand: jose signs none of them. */
  function unsigned(header: object, claims: object = {}, signature = 'AAAA'): string {
    const payload = { iss: 'app', sub: 'app', aud: issuer, exp: second() + 60, jti: randomUUID(), ...claims };
    const encoded = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    return `${encoded.join('.')}.${signature}`;
  }

  function hmac(): string {
    const text = unsigned({ alg: 'HS256' }).split('.').slice(0, 2).join('.');
    const signature = createHmac('sha256', JSON.stringify(key.publicJwk)).update(text).digest('base64url');
    return `${text}.${signature}`;
  }

  const broken: Record<string, () => string> = {
    'T-30 that has no signature': () => unsigned({ alg: 'none' }, {}, ''),
    'T-30 whose algorithm is none': () => unsigned({ alg: 'none' }),
    'T-30 keyed with our public key (HS256)': hmac,
    'T-30 that brings its own key': () => unsigned({ alg: 'ES256', jwk: strange.publicJwk }),
    'T-30 that names an address of keys': () => unsigned({ alg: 'ES256', jku: 'http://127.0.0.1:1/keys' }),
    'T-30 with an unknown critical extension': () => unsigned({ alg: 'ES256', crit: ['x'], x: 1 }),
    'T-30 with a kid that is a path': () => unsigned({ alg: 'ES256', kid: '../../etc/passwd' }),
    'that is an access token': () => unsigned({ alg: 'ES256', typ: 'at+jwt' }),
    'that is encrypted': () => 'a.b.c.d.e',
    'with blanks': () => ` ${unsigned({ alg: 'ES256' })}`,
    'that is no JSON': () => 'eyJ.eyJ.AAAA',
    'with a list for a payload': () => `${unsigned({ alg: 'ES256' }).split('.')[0] ?? ''}.W10.AAAA`,
    'with a number for a subject': () => unsigned({ alg: 'ES256' }, { sub: 7 }),
    'of no ServiceAccount that there can be': () => unsigned({ alg: 'ES256' }, { sub: 'system:serviceaccount:A:b' }),
  };
  for (const [what, make] of Object.entries(broken)) {
    it(`is refused with an assertion ${what}`, async () => {
      const { status, body, headers } = await ask(make(), { client_id: 'app' });
      expect([status, body['error']]).to.deep.equal([401, 'invalid_client']);
      expect(headers.get('cache-control')).to.equal('no-store');
    });
  }

  it('T-03 is refused alike, whoever it is not: unknown, off, without keys, with another key, with keys that are none', async () => {
    const replies = [
      await ask(await signed({}, strange)),
      await ask(await signed({}, key, 'nobody')),
      await ask(await signed({}, key, 'off')),
      await ask(await signed({}, key, 'secret')),
      await ask(await signed({ header: { kid: undefined } }, key, 'odd')),
      await ask(await signed({ header: { kid: undefined } }, signers[7] ?? key, 'odd')),
    ];
    expect(new Set(replies.map(({ status, text }) => `${String(status)} ${text}`)).size).to.equal(1);
    expect(replies[0]?.status).to.equal(401);
  });

  it('R-21: goes on with its good key when a key next to it, stored long ago, cannot be imported', async () => {
    expect((await ask(await signed({}, key, 'mixed'))).status).to.equal(200);
  });

  it('R-21: cannot be declared with a key that cannot be imported', async () => {
    const bad = {
      kind: 'Client',
      id: 'new',
      grant_types: ['client_credentials'],
      jwks: { keys: oddKeys.slice(1, 2) },
    } as const;
    const [result] = await api.declareWithin('default', {}, [bad]);
    expect(JSON.stringify(result)).to.contain('jwks.keys[0].x').and.contain('must be given');
  });

  it('T-13 is refused with a key that was taken away, by all replicas', async () => {
    const turned = await makeSigner('ES256');
    const grant_types = ['client_credentials'];
    const declareWith = (jwk: object) =>
      api.declare('default', [{ kind: 'Client', id: 'turning', grant_types, jwks: { keys: [jwk] } }]);
    await declareWith(key.publicJwk);
    for (const server of [api, replica])
      expect((await ask(await signed({}, key, 'turning'), {}, server)).status).to.equal(200);
    await declareWith(turned.publicJwk);
    for (const server of [api, replica]) {
      expect((await ask(await signed({}, key, 'turning'), {}, server)).status).to.equal(401);
      expect((await ask(await signed({}, turned, 'turning'), {}, server)).status).to.equal(200);
    }
  });

  it('X-09 authenticates in one way only (RFC 6749 section 2.3)', async () => {
    const one = await ask(await signed({}, key, 'both'), { client_id: 'both', client_secret: secret });
    expect([one.status, one.body['error']]).to.deep.equal([400, 'invalid_request']);
    const fields = { grant_type: 'client_credentials', ...proof(await signed({}, key, 'both')) };
    const other = await sendForm(url('token'), fields, basic('both', secret));
    expect([other.status, other.body['error']]).to.deep.equal([400, 'invalid_request']);
  });

  it('is told which half of the assertion is missing, and that there is one type only', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'app' };
    for (const half of [{ client_assertion: await signed() }, { client_assertion_type: assertionType }]) {
      const { status, body } = await sendForm(url('token'), { ...fields, ...half });
      expect([status, body['error']]).to.deep.equal([400, 'invalid_request']);
    }
    const saml = 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer';
    const { status, body } = await ask(await signed(), { client_assertion_type: saml });
    expect([status, body['error']]).to.deep.equal([401, 'invalid_client']);
  });

  it('is refused when client_id names another client', async () => {
    expect((await ask(await signed(), { client_id: 'other' })).status).to.equal(401);
  });

  it('never crashes on any assertion', async () => {
    const segment = fc.oneof(
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
      fc.string(),
    );
    const header = fc
      .record({
        alg: fc.constantFrom(...algorithms, 'none', 'HS256', 'A128KW', ''),
        kid: fc.oneof(fc.string(), fc.constantFrom(...algorithms)),
        crit: fc.constantFrom(undefined, [], ['b64'], ['exp'], 'x'),
        b64: fc.constantFrom(undefined, false),
        zip: fc.constantFrom(undefined, 'DEF'),
      })
      .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    const claims = fc
      .record({
        sub: fc.constantFrom('app', 'odd', 'nobody', 'system:serviceaccount:a:b', '__proto__', 'constructor'),
        exp: fc.oneof(fc.double(), fc.string(), fc.integer()),
        aud: fc.jsonValue(),
      })
      .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    const text = fc.oneof(
      fc.string(),
      fc.tuple(segment, segment, segment).map((parts) => parts.join('.')),
      fc.tuple(header, claims, segment).map((parts) => parts.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.option(fc.constantFrom('app', 'odd', 'nobody'), { nil: undefined }),
        async (one, id) => {
          const { status } = await ask(one, { client_id: id });
          expect(status).to.be.oneOf([400, 401]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('shows no assertion in the log', async () => {
    const text = await signed();
    await ask(text);
    expect(api.logLines.join('\n')).not.to.contain(text.split('.')[2]);
  });
});

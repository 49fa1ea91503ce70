import { expect } from 'chai';
import { createLocalJWKSet } from 'jose';
import pg from 'pg';
import { createServiceAccountTokens } from '../../../api/oauth/client-auth/verify-assertion.ts';
import { createManagement, startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { assertion, makeSigner, proof } from '../assertions.ts';
import type { AssertionParts, Signer } from '../assertions.ts';
import { basic, sendForm } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';
import { outcome } from '../world.ts';

const issuer = 'http://boxgate.test/boxes/default';
const clusterIssuer = 'https://kubernetes.default.svc.cluster.local';
const account = { namespace: 'apps', name: 'report' };
const second = () => Math.floor(Date.now() / 1000);

/** Tokens that no API server makes, and clusters that tell of keys of their own. */
describe('a client that authenticates by ServiceAccounts', () => {
  let api: TestApi;
  let key: Signer;
  let strange: Signer;

  before(async () => {
    const environment = { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' };
    api = await startApi({ environment });
    key = await makeSigner('RS256', 'cluster');
    strange = await makeSigner('RS256', 'cluster');
  });
  after(() => api.stop());
  beforeEach(async () => {
    await api.serviceAccounts(settingsOf(key));
    await declare({ service_accounts: [{ namespace: 'apps', name: 'nobody' }] });
    await declare();
  });

  const settingsOf = ({ publicJwk }: Signer) => ({
    issuer: clusterIssuer,
    keys: { keys: [{ ...publicJwk, kty: publicJwk.kty ?? '' }] },
  });

  async function declare(over: object = {}): Promise<void> {
    const grant_types = ['client_credentials'];
    await api.declare('default', [{ kind: 'Client', id: 'app', grant_types, service_accounts: [account], ...over }]);
  }

  /** As an API server makes it for a pod. */
  function token(parts: AssertionParts = {}, by = key): Promise<string> {
    const claims = {
      iss: clusterIssuer,
      aud: [issuer],
      sub: 'system:serviceaccount:apps:report',
      nbf: second(),
      exp: second() + 3600,
      'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'report', uid: 'uid-1' } },
      ...parts.claims,
    };
    return assertion(by, 'unused', issuer, { claims, header: { typ: undefined, ...parts.header } });
  }

  function ask(text: string, fields: Fields = {}): Promise<Reply> {
    const url = `${api.url}/boxes/default/auth/token`;
    return sendForm(url, { grant_type: 'client_credentials', client_id: 'app', ...proof(text), ...fields });
  }

  const refused: Record<string, [claims: () => object, description: RegExp]> = {
    'of another issuer': [() => ({ iss: 'https://issuer.example' }), /iss/],
    'that has expired': [() => ({ exp: second() - 120 }), /expired/],
    'without an end': [() => ({ exp: undefined }), /no exp/],
    'without a beginning': [() => ({ iat: undefined }), /no iat/],
    'that lives for a year': [() => ({ exp: second() + 365 * 86_400 }), /at most/],
    'that is not valid yet': [() => ({ nbf: second() + 600 }), /nbf/],
    'for nobody': [() => ({ aud: undefined }), /no aud/],
    'without a uid': [() => ({ 'kubernetes.io': undefined }), /projected/],
    'whose uid is of another name': [
      () => ({ 'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'other', uid: 'uid-1' } } }),
      /projected/,
    ],
    'with a uid that is none': [
      () => ({ 'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'report', uid: 7 } } }),
      /projected/,
    ],
  };
  for (const [what, [claims, description]] of Object.entries(refused)) {
    it(`is refused with a token ${what}, and told why`, async () => {
      const { status, body } = await ask(await token({ claims: { ...claims() } }));
      expect([status, body['error']]).to.deep.equal([401, 'invalid_client']);
      expect(body['error_description']).to.match(description);
    });
  }

  it('is refused with a token that somebody else has signed, and told nothing', async () => {
    const { status, body } = await ask(await token({}, strange));
    expect([status, body['error_description']]).to.deep.equal([401, 'Client authentication failed']);
  });

  it('T-13 is refused from the answer on that takes its entry away, or switches it off', async () => {
    const text = await token();
    expect((await ask(text)).status).to.equal(200);
    await declare({ active: false });
    expect((await ask(text)).status).to.equal(401);
    await declare({ service_accounts: [{ namespace: 'apps', name: 'other' }] });
    expect((await ask(text)).status).to.equal(401);
    await declare();
    expect((await ask(text)).status).to.equal(200);
  });

  it('P-13 is pinned to the ServiceAccount that it was first seen with, until its entry is taken away', async () => {
    const of = (uid: string) =>
      token({ claims: { 'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'report', uid } } } });
    const both = await Promise.all([ask(await of('uid-2')), ask(await of('uid-3'))]);
    expect(both.map(({ status }) => status).sort(), 'one of two that come at once').to.deep.equal([200, 401]);
    const [winner, loser] = both[0].status === 200 ? ['uid-2', 'uid-3'] : ['uid-3', 'uid-2'];
    expect((await ask(await of(winner))).status).to.equal(200);
    expect((await ask(await of(loser))).body['error_description']).to.match(/created again/);
    await declare({ name: 'another edit' });
    expect((await ask(await of(loser))).status, 'an edit of something else keeps the pin').to.equal(401);
    await api.remove('default', [{ kind: 'Client', id: 'app' }]);
    await declare();
    expect((await ask(await of(loser))).status, 'declared again').to.equal(200);
  });

  it('P-13 is refused with a token for this server and another one', async () => {
    const { status, body } = await ask(await token({ claims: { aud: [issuer, 'https://vault.example'] } }));
    expect(status).to.equal(401);
    expect(body['error_description']).to.match(/audience/);
  });

  it('is refused under a key that the cluster serves no longer, though its token was good a moment ago', async () => {
    const text = await token();
    for (const [of, status] of [
      [key, 200],
      [strange, 401],
      [key, 200],
    ] as const) {
      await api.serviceAccounts(settingsOf(of));
      expect((await ask(text)).status).to.equal(status);
    }
  });

  it('is refused where no cluster has told who makes the tokens, and told that', async () => {
    await api.serviceAccounts(null);
    const { status, body } = await ask(await token());
    expect(status).to.equal(401);
    expect(body['error_description']).to.match(/^No cluster has told/);
  });

  it('X-09 authenticates in one way only', async () => {
    for (const request of [
      ask(await token(), { client_secret: 'x' }),
      sendForm(`${api.url}/boxes/default/auth/token`, { ...proof(await token()) }, basic('app', 'x')),
    ]) {
      expect((await request).body['error']).to.equal('invalid_request');
    }
  });

  it('is known by the ServiceAccounts of the cluster that declares it, and by no other’s', async () => {
    const other = createManagement(api.managementUrl, api.managementKey, 'other');
    await other.serviceAccounts(settingsOf(strange));
    const grant_types = ['client_credentials'];
    await other.declare('elsewhere', [{ kind: 'Client', id: 'app', grant_types, service_accounts: [account] }]);
    const audience = issuer.replace('default', 'elsewhere');
    const url = `${api.url}/boxes/elsewhere/auth/token`;
    const statusOf = async (by: Signer) => {
      const fields = { grant_type: 'client_credentials', client_id: 'app' };
      return (await sendForm(url, { ...fields, ...proof(await token({ claims: { aud: audience } }, by)) })).status;
    };
    expect(await statusOf(strange)).to.equal(200);
    expect(await statusOf(key)).to.equal(401);
    expect((await ask(await token())).status).to.equal(200);
    expect((await ask(await token({}, strange))).status).to.equal(401);
    await other.serviceAccounts(null);
  });

  it('is known by those of the only cluster when nobody owns it, and by none when there are two', async () => {
    await api.declare('free', [
      { kind: 'Client', id: 'app', grant_types: ['client_credentials'], service_accounts: [account] },
    ]);
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    await owner.query(
      `UPDATE boxgate.resource SET owner_cluster = NULL, owner_name = NULL, owner_uid = NULL WHERE box = 'free'`,
    );
    await owner.end();
    const statusOf = async () => {
      const text = await token({ claims: { aud: issuer.replace('default', 'free') } });
      const fields = { grant_type: 'client_credentials', client_id: 'app', ...proof(text) };
      return (await sendForm(`${api.url}/boxes/free/auth/token`, fields)).status;
    };
    expect(await statusOf()).to.equal(200);
    const other = createManagement(api.managementUrl, api.managementKey, 'second');
    await other.serviceAccounts(settingsOf(strange));
    expect(await statusOf()).to.equal(401);
    await other.serviceAccounts(null);
    expect(await statusOf()).to.equal(200);
  });

  it('is told to no older leader: settings are fenced like an apply', async () => {
    const old = createManagement(api.managementUrl, api.managementKey, 'fenced');
    await old.serviceAccounts(null);
    await createManagement(api.managementUrl, api.managementKey, 'fenced').serviceAccounts(null);
    const error: unknown = await old.serviceAccounts(settingsOf(strange)).catch((thrown: unknown) => thrown);
    expect(error instanceof Error ? error.message : '').to.contain('"fenced"');
  });

  it('keeps the version of settings that say the same again, and does not write their row', async () => {
    const version = await api.serviceAccounts(settingsOf(key));
    const row = await rowPlace();
    expect(await api.serviceAccounts(settingsOf(key))).to.equal(version);
    expect(await rowPlace()).to.equal(row);
    expect(await api.serviceAccounts(settingsOf(strange))).to.be.above(version);
  });

  /** Returns the physical place of the settings row, which changes with every write. */
  async function rowPlace(): Promise<string | undefined> {
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      const { rows } = await owner.query<{ ctid: string }>('SELECT ctid::text FROM boxgate.cluster_settings');
      return rows[0]?.ctid;
    } finally {
      await owner.end();
    }
  }

  it('K-03 is not served by settings that are none, or that hold a private key', async () => {
    const epoch = 1;
    const { publicJwk } = key;
    const bodies = [
      {},
      { cluster: 'x', epoch },
      { cluster: 'x', epoch, service_accounts: {} },
      { cluster: 'x', epoch, service_accounts: { issuer: '', keys: { keys: [publicJwk] } } },
      { cluster: 'x', epoch, service_accounts: { issuer: 'i', keys: { keys: [] } } },
      { cluster: 'x', epoch, service_accounts: { issuer: 'i', keys: { keys: [{ ...publicJwk, d: 'AQAB' }] } } },
      { cluster: 'x', epoch, service_accounts: { issuer: 'i', keys: { keys: [{ kty: 'oct', k: 'AQAB' }] } } },
    ];
    for (const body of bodies) {
      const headers = { Authorization: `Bearer ${api.managementKey}` };
      const sent = { method: 'PUT', headers, body: JSON.stringify(body) };
      expect((await fetch(`${api.managementUrl}/settings`, sent)).status, JSON.stringify(body)).to.equal(400);
    }
    expect((await fetch(`${api.managementUrl}/settings`, { method: 'PUT', body: '{}' })).status).to.equal(401);
  });
});

describe('verified tokens of ServiceAccounts', () => {
  const subject = 'system:serviceaccount:apps:report';

  it('are remembered until they expire, and under the keys that verified them only', async () => {
    const key = await makeSigner('ES256', 'cluster');
    let looks = 0;
    const set = createLocalJWKSet({ keys: [key.publicJwk] });
    const by = {
      issuer: clusterIssuer,
      keys: (...header: Parameters<typeof set>) => {
        looks += 1;
        return set(...header);
      },
    };
    const tokens = createServiceAccountTokens(2);
    const claims = { iss: clusterIssuer, sub: subject };
    const [one = '', two = '', three = ''] = await Promise.all(
      [1, 2, 3].map(() => assertion(key, 'unused', issuer, { claims })),
    );
    const now = Date.now();
    const verify = (text: string, at = now, of = by) => outcome(tokens.verify(text, subject, of, at));
    for (let count = 0; count < 3; count += 1) expect(await verify(one)).to.deep.include(claims);
    expect(looks).to.equal(1);
    expect(await verify(one, now + 200_000)).to.equal('invalid_client');
    await verify(one);
    expect(looks, 'what was over is verified again').to.equal(3);
    await verify(two);
    await verify(three);
    await verify(one);
    expect(looks, 'the oldest went when there were too many').to.equal(6);
    const others = createLocalJWKSet({ keys: [(await makeSigner('ES256', 'cluster')).publicJwk] });
    expect(await verify(one, now, { ...by, keys: others })).to.equal(undefined);
  });
});

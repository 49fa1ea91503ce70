import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import type { ServiceAccountSettings } from '../../../../api/client/cluster.ts';
import { clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { readServiceAccountKeys } from '../../../../operator/kube/source/service-accounts.ts';
import { controlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';
import { startScriptedApiServer } from '../../../support/cluster/scripted-api-server.ts';
import { proof } from '../../../oauth/assertions.ts';
import { sendForm, type Fields, type Reply } from '../../../oauth/requests.ts';
import { startApi, type TestApi } from '../../../support/api.ts';
import { installOperator } from '../../install-operator.ts';
import { apiOf } from '../things.ts';
import { eventually } from '../../../support/eventually.ts';

const never = new AbortController().signal;
const issuer = 'http://boxgate.test/boxes/default';

describe('the ServiceAccounts of a real cluster', () => {
  let plane: ControlPlane;
  let api: TestApi;
  let replica: TestApi;
  let keys: ServiceAccountSettings;
  let apps: string;
  let others: string;

  before(async () => {
    plane = await controlPlane();
    const { access } = await installOperator(plane);
    keys = await readServiceAccountKeys(createKubeApi(createConnection(() => clusterConfig(access))), never);
    api = await startApi();
    replica = await startApi({ database: api.database });
    [apps, others] = [await plane.namespace('apps'), await plane.namespace('others')];
    for (const namespace of [apps, others]) await makeServiceAccount(namespace, 'report');
    await declare();
    await api.serviceAccounts(keys);
  });
  after(async () => {
    await replica.stop();
    await api.stop();
  });

  async function declare(names: readonly string[] = ['report']): Promise<void> {
    const service_accounts = names.map((name) => ({ namespace: apps, name }));
    const client = { kind: 'Client', grant_types: ['client_credentials'], service_accounts } as const;
    await api.declare('default', [
      { ...client, id: 'reports' },
      { ...client, id: 'exports' },
    ]);
  }

  async function makeServiceAccount(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await plane.call({ method: 'POST', path, body: { metadata: { name } } });
  }

  /** Requests a token as the kubelet does for a pod with a projected token. */
  async function mint(namespace: string, name: string, audiences: readonly string[] = [issuer]): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const spec = { audiences, expirationSeconds: 3600 };
    const { body } = await plane.call({ method: 'POST', path, body: { spec } });
    const status = isObject(body) && isObject(body['status']) ? body['status'] : {};
    return String(status['token']);
  }

  function ask(token: string, fields: Fields = {}, of = api): Promise<Reply> {
    const url = `${of.url}/boxes/default/auth/token`;
    return sendForm(url, { grant_type: 'client_credentials', client_id: 'reports', ...proof(token), ...fields });
  }

  it('are told of by the API server: their issuer and the keys, under the operator’s own rights', () => {
    expect(keys.issuer).to.equal('https://kubernetes.default.svc.cluster.local');
    expect(keys.keys.keys).to.have.length(1);
    expect(keys.keys.keys[0]).to.include({ kty: 'RSA', alg: 'RS256', use: 'sig' });
  });

  it('authenticate a client by a projected token, as often as it lives, at every endpoint and replica', async () => {
    const token = await mint(apps, 'report');
    for (const server of both()) expect((await ask(token, {}, server)).status).to.equal(200);
    const { body } = await ask(token);
    const base = `${api.url}/boxes/default/auth`;
    const fields = { client_id: 'reports', token: String(body['access_token']), ...proof(token) };
    expect((await sendForm(`${base}/introspect`, fields)).body).to.include({ active: true, client_id: 'reports' });
    expect((await sendForm(`${base}/revoke`, fields)).status).to.equal(200);
    expect((await sendForm(`${base}/introspect`, fields)).body).to.deep.equal({ active: false });
  });

  const both = (): readonly TestApi[] => [api, replica];

  it('peer defect 15: may be that of several clients, the request says which', async () => {
    const token = await mint(apps, 'report');
    for (const client_id of ['reports', 'exports']) {
      const { body } = await ask(token, { client_id });
      const seen = await sendForm(`${api.url}/boxes/default/auth/introspect`, {
        ...{ client_id, token: String(body['access_token']), ...proof(token) },
      });
      expect(seen.body).to.include({ client_id });
    }
    const { status, body } = await ask(token, { client_id: undefined });
    expect(status).to.equal(401);
    expect(body['error_description']).to.match(/client_id is missing/);
  });

  it('P-13 are refused with a token for another audience: the API server’s, another box’s, more than one', async () => {
    const audiences = [[], ['https://kubernetes.default.svc.cluster.local'], [issuer.replace('default', 'other')]];
    for (const audience of [...audiences, [issuer, 'https://vault.example'], [`${issuer}/auth/token`]]) {
      const { status, body } = await ask(await mint(apps, 'report', audience));
      expect([status, body['error']], audience.join()).to.deep.equal([401, 'invalid_client']);
      expect(body['error_description']).to.match(/audience/);
    }
  });

  it('P-13 are refused when the client does not list them, also by their name in another namespace', async () => {
    await makeServiceAccount(apps, 'stranger');
    for (const token of [await mint(others, 'report'), await mint(apps, 'stranger')]) {
      const { status, body } = await ask(token);
      expect([status, body['error']]).to.deep.equal([401, 'invalid_client']);
      expect(body['error_description']).to.equal('This ServiceAccount does not authenticate the client');
    }
    expect((await ask(await mint(apps, 'report'), { client_id: 'nobody' })).status).to.equal(401);
  });

  it('P-13 are strangers when they were created again, until their entry is', async () => {
    const name = 'fleeting';
    await makeServiceAccount(apps, name);
    await declare(['report', name]);
    const old = await mint(apps, name);
    expect((await ask(old)).status).to.equal(200);
    await plane.call({ method: 'DELETE', path: `/api/v1/namespaces/${apps}/serviceaccounts/${name}` });
    await makeServiceAccount(apps, name);
    const fresh = await mint(apps, name);
    for (const server of both()) {
      const { status, body } = await ask(fresh, {}, server);
      expect(status).to.equal(401);
      expect(body['error_description']).to.match(/created again/);
    }
    await eventually('the replica logs the record', () =>
      replica.logLines.some((line) => line.includes('service_account.created_again')),
    );
    // The pin is of a client: another one may have met the new one first.
    expect((await ask(fresh, { client_id: 'exports' })).status).to.equal(200);
    await declare(['report']);
    await declare(['report', name]);
    for (const server of both()) expect((await ask(fresh, {}, server)).status).to.equal(200);
    expect((await ask(old)).status, 'and now the old one is the stranger').to.equal(401);
  });

  it('count no longer under a key that is no longer served, from the moment the API has been told', async () => {
    const token = await mint(apps, 'report');
    for (const server of both()) expect((await ask(token, {}, server)).status).to.equal(200);
    const foreign = { ...keys, keys: { keys: keys.keys.keys.map((key) => ({ ...key, n: turned(key) })) } };
    await api.serviceAccounts(foreign);
    for (const server of both()) expect((await ask(token, {}, server)).status).to.equal(401);
    await api.serviceAccounts(keys);
    for (const server of both()) expect((await ask(token, {}, server)).status).to.equal(200);
  });

  /** Another modulus of the same length. */
  function turned(key: object): string {
    const n = 'n' in key ? String(key.n) : '';
    return n.replaceAll(/./g, (sign) => (sign === 'A' ? 'B' : 'A'));
  }
});

describe('the keys of ServiceAccounts that a scripted API server serves', () => {
  const answers: Record<string, object> = {
    'no issuer': { keys: [{ kty: 'RSA' }] },
    'no keys': { issuer: 'https://issuer.example', keys: [] },
    'keys that are none': { issuer: 'https://issuer.example', keys: ['x', 7] },
  };
  for (const [what, answer] of Object.entries(answers)) {
    it(`are not taken from an answer with ${what}: what was known stays`, async () => {
      const server = await startScriptedApiServer();
      try {
        server.always('other', (response) => response.end(JSON.stringify(answer)));
        const thrown: unknown = await readServiceAccountKeys(apiOf(server), never).catch((error: unknown) => error);
        expect(thrown instanceof KubeError ? thrown.code : thrown).to.equal('garbled');
      } finally {
        await server.close();
      }
    });
  }
});

import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import pg from 'pg';
import { KINDS, type Kind } from '../../../crds/kind.ts';
import type { ApiAnswer } from '../../support/cluster/api-call.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestOperator } from '../../support/operator-process.ts';
import { sendJson } from '../../oauth/requests.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const machine = { grant_types: ['client_credentials'] };
/** Text that no other tenant may ever see. */
const canary = 'canary-of-the-neighbour';

describe('tenants of one cluster', () => {
  let rig: OperatorRig;
  let operator: TestOperator;
  let owner: pg.Pool;
  /** The attacker's namespace, and the neighbour's. */
  let here: string;
  let there: string;
  before(async () => {
    rig = await startOperatorRig();
    // How much a box is used is asked at a time of chance, and then written into statuses.
    operator = await rig.operator({ BOXGATE_USAGE_SECONDS: '86400' });
    owner = new pg.Pool({ connectionString: rig.database.ownerUrl, max: 2 });
    [here, there] = [await rig.box(), await rig.box()];
    await letWrite('author', 'clients');
    await letWrite('owner', 'clients', 'accesspolicies', 'boxes');
    await rig.put('Box', there, 'box', {});
    await rig.put('Client', there, 'app', { ...machine, secret: `${canary}-secret`, description: canary });
    await rig.put('Client', there, canary, { ...machine, secret: `${canary}-secret`, name: canary });
    await rig.put('AccessPolicy', there, canary, { engine: 'allow', link: [{ reference: `Client/${canary}` }] });
    for (const name of ['app', canary]) await rig.ready('Client', there, name, 60_000);
  });
  after(async () => {
    await owner.end();
    await rig.stop();
  });

  /** Lets a ServiceAccount of the attacker's namespace do everything there with these kinds, and nothing else. */
  async function letWrite(account: string, ...resources: readonly string[]): Promise<void> {
    const rbac = 'rbac.authorization.k8s.io';
    const at = `/apis/${rbac}/v1/namespaces/${here}`;
    const make = (path: string, body: object): Promise<ApiAnswer> => rig.plane.call({ method: 'POST', path, body });
    const metadata = { name: account };
    const rules = [{ apiGroups: ['boxgate.dev'], resources, verbs: ['*'] }];
    await make(`${at}/roles`, { metadata, rules });
    const subjects = [{ kind: 'ServiceAccount', name: account, namespace: here }];
    await make(`${at}/rolebindings`, { metadata, subjects, roleRef: { apiGroup: rbac, kind: 'Role', name: account } });
  }

  const at = (kind: Kind, namespace: string): string =>
    `/apis/boxgate.dev/v1/namespaces/${namespace}/${KINDS[kind].plural}`;

  /** Makes an object as a ServiceAccount of the attacker's namespace does. */
  function make(
    account: string,
    kind: Kind,
    name: string,
    spec: object,
    metadata: object = {},
    namespace = here,
  ): Promise<ApiAnswer> {
    const body = { apiVersion: 'boxgate.dev/v1', kind, metadata: { ...metadata, name }, spec };
    const as = `system:serviceaccount:${here}:${account}`;
    return rig.plane.call({ method: 'POST', path: at(kind, namespace), body, as });
  }

  const seen = (kind: Kind, name: string): Promise<void> =>
    eventually(`${name} was looked at`, async () => {
      const { status } = (await rig.find(kind, here, name)) ?? {};
      return isObject(status) && Array.isArray(status['conditions']);
    });

  /** Everything of the neighbour: rows, sessions, objects, Secrets. */
  async function dump(): Promise<string> {
    const parts = [];
    for (const table of ['box', 'resource', 'session', 'signing_key']) {
      const order = table === 'resource' ? 'kind, id' : '1, 2';
      parts.push((await owner.query(`SELECT * FROM boxgate.${table} WHERE box = $1 ORDER BY ${order}`, [there])).rows);
    }
    for (const { kind } of Object.values(KINDS)) parts.push(items(await rig.plane.call({ path: at(kind, there) })));
    parts.push(items(await rig.plane.call({ path: `/api/v1/namespaces/${there}/secrets` })));
    return JSON.stringify(parts, undefined, 1);
  }

  function items({ body }: ApiAnswer): readonly Record<string, unknown>[] {
    return isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
  }

  async function tokenOf(box: string, id: string, secret: string): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    return String((await sendJson(`${rig.api.url}/boxes/${box}/auth/token`, body)).body['access_token']);
  }

  async function get(box: string, path: string, token: string): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${rig.api.url}/boxes/${box}${path}`, { headers })).status;
  }

  it('P-03, peer defect 14: a link never leads out of its namespace, whatever it says', async () => {
    const { metadata } = (await rig.find('Client', there, 'app')) ?? {};
    const uid = isObject(metadata) ? String(metadata['uid']) : '';
    const links: object[] = [
      ...[`${there}/app`, '../app', `../../${there}/Client/app`, `https://auth.example/boxes/${there}/Client/app`, uid]
        .map((id) => [{ resourceType: 'Client', id }, { reference: `Client/${id}` }])
        .flat(),
      { resourceType: 'Client', id: 'app' },
      { resourceType: 'Client', id: 'crafted-10' },
      { resourceType: 'AccessPolicy', id: canary },
      { resourceType: 'Session', id: canary },
      { resourceType: 'Box', id: there },
      { resourceType: 'Group', id: `${there}/staff` },
      { reference: `Box/${there}` },
      { resourceType: 'Client', id: 'app', namespace: there },
    ];
    for (const [nth, link] of links.entries()) {
      const name = `crafted-${String(nth)}`;
      const { status } = await make('owner', 'AccessPolicy', name, { engine: 'allow', link: [link] });
      if (status === 422) continue;
      expect(status, JSON.stringify(link)).to.equal(201);
      await seen('AccessPolicy', name);
      // A field that nobody knows is dropped: what is left of that one is an honest link to nobody.
      expect(await rig.condition('AccessPolicy', here, name, 'LinksResolved'), name).to.equal('False/DanglingLinks');
    }
    const token = await tokenOf(there, 'app', `${canary}-secret`);
    expect(await get(there, '/Session', token), 'at home nobody grants it anything').to.equal(403);
    expect(await get(here, '/Session', token), 'and elsewhere it is a stranger').to.equal(401);
    for (const [nth] of links.entries()) await rig.remove('AccessPolicy', here, `crafted-${String(nth)}`);
  });

  it('P-08 who may write clients here changes nothing there, whatever the names, labels, owners and annotations', async () => {
    const before = await dump();
    const other = await rig.find('Client', there, 'app');
    const { uid } = isObject(other?.['metadata']) ? other['metadata'] : {};
    const ownerReferences = [{ apiVersion: 'boxgate.dev/v1', kind: 'Client', name: 'app', uid, controller: true }];
    const crafted: readonly (readonly [name: string, spec: object, metadata?: object])[] = [
      ['app', { ...machine, secret: 'mine', adoption: 'Force' }],
      [canary, { ...machine, secret: 'mine' }],
      ['a1', { ...machine, id: `${there}.app`, secret: 'mine' }],
      ['a2', { ...machine, secret: 'mine' }, { ownerReferences }],
      [
        'a3',
        { ...machine, secret: 'mine' },
        { labels: { 'boxgate.dev/box': there, 'app.kubernetes.io/managed-by': 'x' } },
      ],
      ['a4', { ...machine, secret: 'mine' }, { annotations: annotations(there) }],
      ['a5', { ...machine, secret: 'mine', deletionPolicy: 'Retain' }, { annotations: { 'boxgate.dev/box': there } }],
      ['a6', { ...machine, secretRef: { name: 'app', key: 'client_secret' } }, { annotations: annotations(there) }],
      ['a7', { ...machine, generateSecret: { name: 'a7', labels: { box: there } } }, { generateName: there }],
    ];
    for (const [name, spec, metadata] of crafted) {
      expect((await make('author', 'Client', name, spec, metadata)).status, name).to.equal(201);
      await seen('Client', name);
    }
    const elsewhere = await make('author', 'Client', 'intruder', machine, {}, there);
    expect(elsewhere.status).to.equal(403);
    const slipped = await make('author', 'Client', 'intruder', machine, { namespace: there });
    expect(slipped.status).to.equal(400);
    for (const [name] of crafted) await rig.remove('Client', here, name);
    await eventually('they have no row any more', async () => {
      const rows = await owner.query(`SELECT FROM boxgate.resource WHERE box = $1 AND id = ANY ($2)`, [
        here,
        crafted.map(([name]) => name).filter((name) => name !== 'a5'),
      ]);
      return rows.rowCount === 0;
    });
    expect(await dump()).to.equal(before);
    expect(await rig.token(there, 'app', `${canary}-secret`)).to.equal(200);
    expect(await rig.token(there, 'app', 'mine')).to.equal(401);
  });

  it('P-09 who may write clients and no policies gains no access by any field of a client', async () => {
    expect((await make('author', 'AccessPolicy', 'mine', { engine: 'allow', subjects: 'anyone' })).status).to.equal(
      403,
    );
    expect((await make('author', 'Box', 'box', {})).status).to.equal(403);
    const fields: Readonly<Record<string, object>> = {
      plain: {},
      scopes: { scope: ['admin', 'boxgate:admin', 'system', 'openid'] },
      trusted: { first_party: true, active: true, name: 'admins', description: 'admin' },
      free: { details: { admin: true, groups: ['admins'], policies: ['*'], resourceType: 'AccessPolicy' } },
      tokens: { auth: { client_credentials: { token_format: 'jwt', audience: ['https://boxgate.test', 'admin'] } } },
      adopting: { adoption: 'Force', deletionPolicy: 'Retain' },
      'boxgate-operator': { allowed_origins: ['https://admin.example'] },
      admins: {},
      'access-policy': { id: 'AccessPolicy' },
    };
    for (const [name, spec] of Object.entries(fields)) {
      const secret = 'a-secret-of-the-author';
      expect((await make('author', 'Client', name, { ...machine, secret, ...spec })).status, name).to.equal(201);
      await rig.ready('Client', here, name);
      const id = 'id' in spec ? String(spec.id) : name;
      const token = await tokenOf(here, id, secret);
      for (const path of [
        '/Session',
        '/Client',
        '/AccessPolicy',
        `/Client/${id}`,
        '/Session/1',
        '/AccessPolicy/mine',
      ]) {
        expect(await get(here, path, token), `${name} ${path}`).to.equal(403);
      }
      expect(await rig.condition('Client', here, name, 'Granted')).to.equal('False/NoPolicy');
    }
    const links = { engine: 'allow', link: [{ resourceType: 'Client', id: 'plain' }] };
    const unknown = await make('author', 'Client', 'with-a-policy', {
      ...machine,
      policies: [links],
      link: links.link,
    });
    expect(JSON.stringify((await rig.find('Client', here, 'with-a-policy'))?.['spec'] ?? unknown)).not.to.contain(
      'link',
    );
  });

  it('P-11 statuses, Events and log lines about one namespace say nothing of another', async () => {
    await make('owner', 'AccessPolicy', 'guess', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await make('owner', 'AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==' });
    await make('owner', 'Client', 'refers', { ...machine, secretRef: { name: 'app', key: 'client_secret' } });
    await make('owner', 'Client', 'first', { ...machine, id: 'same', secret: 'x' });
    await make('owner', 'Client', 'second', { ...machine, id: 'same', secret: 'x' });
    await make('owner', 'Box', 'box', { hosts: [`boxgate.${there}.example`] });
    for (const name of ['guess', 'broken']) await seen('AccessPolicy', name);
    for (const name of ['refers', 'first', 'second']) await seen('Client', name);
    await seen('Box', 'box');
    const statuses = await Promise.all(
      Object.values(KINDS).map(async ({ kind }) => items(await rig.plane.call({ path: at(kind, here) }))),
    );
    // Those about the namesake that the tenant made itself are its own.
    const events = items(await rig.plane.call({ path: `/api/v1/namespaces/${here}/events` })).filter(
      ({ involvedObject }) => !isObject(involvedObject) || involvedObject['name'] !== canary,
    );
    // The target of a record is what the tenant itself has named, after the neighbour.
    const log = [...operator.lines, ...rig.api.logLines]
      .filter((line) => line.includes(here))
      .map((line) => line.replace(/"target":\{[^}]*\}/, ''));
    const said = [...statuses.flat().map(({ status }) => status), ...events, ...log].map((one) => JSON.stringify(one));
    expect(said.length).to.be.greaterThan(6);
    for (const text of said) {
      expect(text).not.to.contain(canary);
      expect(text.replaceAll(`boxgate.${there}.example`, '')).not.to.contain(there);
    }
    const whole = [...operator.lines, ...rig.api.logLines].join('\n');
    expect(whole).not.to.contain(`${canary}-secret`);
  });
});

/** Every annotation that means something somewhere, pointing at the neighbour. */
function annotations(there: string): Readonly<Record<string, string>> {
  const names = [
    'hosts',
    'adopt-uid',
    'discard-uid',
    'box',
    'namespace',
    'owner',
    'cluster',
    'client-secret',
    'allow-prune',
  ];
  return Object.fromEntries(names.map((name) => [`boxgate.dev/${name}`, there]));
}

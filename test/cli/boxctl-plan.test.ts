import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { declaredObjects } from '../../api/cli/declared-folder.ts';
import { isList, isObject } from '../../crds/path.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import type { DeclaredResource, TestApi } from '../support/api.ts';
import { startApi } from '../support/api.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const secret = 'a secret of the client';
const box = 'shop';

/** Client and policy that plan and that no folder declares. */
const planner: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'planner', grant_types: ['client_credentials'], secret },
  {
    kind: 'AccessPolicy',
    id: 'planner',
    engine: 'matcho',
    link: [{ resourceType: 'Client', id: 'planner' }],
    matcho: { uri: { $enum: ['/$plan', '/$export', '/AccessPolicy/$requests'] } },
  },
];

const planning = `apiVersion: boxgate.dev/v1
kind: Client
metadata: { name: planner }
spec: { grant_types: [client_credentials], secretRef: { name: planner, key: client_secret } }
---
apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata: { name: planner }
spec:
  engine: matcho
  link: [{ resourceType: Client, id: planner }]
  matcho: { uri: { $enum: [/$plan, /$export, /AccessPolicy/$requests] } }
`;

describe('boxctl plan', () => {
  let api: TestApi;
  let boxctl: Boxctl;
  let folder: string;

  before(async () => {
    api = await startApi();
    folder = await mkdtemp(path.join(tmpdir(), 'plan-'));
    boxctl = await startBoxctl({
      BOXCTL_SERVER: api.url,
      BOXCTL_BOX: box,
      BOXCTL_CLIENT_ID: 'planner',
      BOXCTL_CLIENT_SECRET: secret,
    });
    const before = declaredObjects('examples/plan/before', box).map(({ kind, id, resource }): DeclaredResource => {
      const { resourceType: _type, ...fields } = resource;
      return { ...fields, kind, id, ...(kind === 'Client' ? { secret } : {}) };
    });
    await api.declare(box, [...planner, ...before]);
  });
  after(async () => {
    await boxctl.remove();
    await api.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = (pathname: string, init: RequestInit): Promise<Response> =>
    fetch(`${api.url}/boxes/${box}${pathname}`, init);
  const tokenOf = async (client: string): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: secret });
    const answer: unknown = await (await call('/auth/token', { method: 'POST', body })).json();
    return String(isObject(answer) ? answer['access_token'] : '');
  };
  const withPlanner = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const own = path.join(folder, name);
    await mkdir(own, { recursive: true });
    for (const [file, text] of Object.entries({ 'planner.yaml': planning, ...files }))
      await writeFile(path.join(own, file), text);
    return own;
  };
  const copied = (example: string): Promise<string> => {
    const files = readdirSync(`examples/plan/${example}`).map(
      (file) => [file, readFileSync(`examples/plan/${example}/${file}`, 'utf8')] as const,
    );
    return withPlanner(example, Object.fromEntries(files));
  };
  const rows = () =>
    ownerQuery(
      api,
      'SELECT kind, id, version, body::text, secrets FROM boxgate.resource WHERE box = $1 ORDER BY 1, 2',
      [box],
    );

  it('says that nothing changes for what the box has, and exits with 0', async () => {
    const { code, output, messages } = await boxctl.run(['plan', await copied('before')]);
    expect({ code, messages }).to.deep.equal({ code: 0, messages: '' });
    expect(output).to.match(/^Box shop: 0 resources would change\. Of \d+ compared requests?, 0 would be refused/);
  });

  it('issue: lists a removed policy, an added link, a deleted client with sessions, a grant narrowed by method', async () => {
    const token = await tokenOf('importer');
    await tokenOf('importer');
    await call('/users', { headers: { Authorization: `Bearer ${token}` } });
    const planned = await copied('after');
    const before = await rows();
    const { code, output, messages } = await boxctl.run(['plan', planned, '--output', 'json']);
    expect({ code, messages }).to.deep.equal({ code: 11, messages: '' });
    const answer: unknown = JSON.parse(output);
    if (!isObject(answer)) throw new Error(output);
    const { resources, secrets, sessions, decisions } = answer;
    expect(resources).to.have.deep.members([
      { kind: 'AccessPolicy', id: 'read-clients', result: 'deleted' },
      { kind: 'AccessPolicy', id: 'read-users', result: 'deleted' },
      { kind: 'Client', id: 'importer', result: 'deleted' },
      { kind: 'AccessPolicy', id: 'orders', result: 'changed', fields: ['engine', 'link', 'matcho'] },
    ]);
    expect(secrets).to.deep.equal([]);
    expect(isList(sessions) ? sessions.filter(isObject).map(({ client }) => client) : []).to.deep.equal([
      'importer',
      'importer',
    ]);
    const given = { from: 'given', certain: true };
    const orders = { app: 'orders.example', ...given };
    expect(decisions).to.deep.include.members([
      {
        ...given,
        effect: 'lost',
        subject: { client: 'reporting' },
        method: 'GET',
        path: '/Client',
        policy: 'read-clients',
      },
      {
        ...orders,
        effect: 'lost',
        subject: { group: 'support' },
        method: 'DELETE',
        path: '/orders/1',
        policy: 'orders',
      },
      { ...orders, effect: 'gained', subject: { client: 'stock' }, method: 'GET', path: '/orders', policy: 'orders' },
    ]);
    expect(isList(decisions) ? decisions.length : 0).to.be.within(3, 4);
    expect(await rows()).to.deep.equal(before);
    expect((await call('/users', { headers: { Authorization: `Bearer ${token}` } })).status).to.equal(200);
  });

  it('compares what the box has recorded, within a second of the request', async () => {
    const planned = await copied('after');
    await eventually('the request of the importer is recorded', async () => {
      const { output } = await boxctl.run(['plan', planned]);
      return /Access lost:\n(?: {2}.*\n)* {2}Client\/importer +GET \/users +read-users\n/.test(output);
    });
  });

  it('writes Markdown for a pull request, in which names stay text', async () => {
    const { code, output } = await boxctl.run(['plan', await copied('after'), '--output', 'markdown']);
    expect(code).to.equal(11);
    expect(output).to.match(/^### Access plan\n\nBox shop: 4 resources would change\. /);
    expect(output).to.contain('| Client/reporting | GET /Client | read-clients |\n');
    expect(output).to.contain('#### Sessions that would end\n\n| Client | User | Sessions |\n| --- | --- | --- |\n');
  });

  it('exits with 10 if access is only gained, and with 1 if an object would be refused', async () => {
    const shop = readFileSync('examples/plan/before/shop.yaml', 'utf8');
    const open = `---
apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata: { name: stock }
spec: { engine: allow, link: [{ resourceType: Client, id: stock }] }
`;
    const requests = stringify([
      { subject: { client: 'stock' }, request: { 'request-method': 'get', uri: '/Client' } },
    ]);
    const gaining = await withPlanner('gaining', { 'shop.yaml': shop + open, 'requests.yaml': requests });
    expect((await boxctl.run(['plan', gaining])).code).to.equal(10);
    const twice = await withPlanner('twice', {
      'shop.yaml': shop,
      'again.yaml': open.replace('name: stock', 'name: other').replace('engine', 'id: orders, engine'),
    });
    const { code, messages } = await boxctl.run(['plan', twice]);
    expect({ code, messages }).to.deep.equal({
      code: 1,
      messages: 'boxctl: the box would refuse some of the objects\n',
    });
  });

  it('tells which secrets change; one whose value is not in the folder is unchanged', async () => {
    const secretOf = (value: string): string => `---
apiVersion: v1
kind: Secret
metadata: { name: planner }
stringData: { client_secret: '${value}' }
`;
    const shop = readFileSync('examples/plan/before/shop.yaml', 'utf8');
    const same = await withPlanner('same', { 'shop.yaml': shop, 'secret.yaml': secretOf(secret) });
    expect((await boxctl.run(['plan', same])).output).to.contain('0 resources would change');
    const other = await withPlanner('other', { 'shop.yaml': shop, 'secret.yaml': secretOf('another secret of it') });
    const { code, output } = await boxctl.run(['plan', other]);
    expect({ code, output: output.split('\n').slice(2).join('\n') }).to.deep.equal({
      code: 0,
      output: 'Resources:\n  ~ changed   Client/planner   secret\n\nSecrets that change:\n  planner\n',
    });
    expect(output).not.to.contain('another secret');
  });

  it('names file, line and field of a faulty manifest, and sends nothing', async () => {
    const faulty = await withPlanner('faulty', {
      'bad.yaml': 'apiVersion: boxgate.dev/v1\nkind: Client\nmetadata: { name: bad }\nspec: { grant_types: [none] }\n',
    });
    const { code, messages } = await boxctl.run(['plan', faulty]);
    expect(code).to.equal(2);
    expect(messages).to.contain('bad.yaml:1: Client bad: ').and.to.contain('spec.grant_types[0]');
  });

  it('says who must allow it, if no policy does', async () => {
    const { code, messages } = await boxctl.run(['plan', await copied('before')], {
      BOXCTL_CLIENT_ID: 'stock',
    });
    expect(code).to.equal(1);
    expect(messages).to.contain('POST /$plan is refused (403): no access policy of the box allows it to this caller');
  });
});

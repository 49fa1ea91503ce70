import { expect } from 'chai';
import { stringify } from 'yaml';
import { accessPolicySchema } from '../../../crds/access-policy.ts';
import { boxSchema } from '../../../crds/box.ts';
import { clientSchema } from '../../../crds/client.ts';
import { fieldsOf } from '../../../crds/reference.ts';
import { isObject } from '../../../crds/path.ts';
import { schemaNode } from '../../../crds/schema-node.ts';
import type { SchemaNode } from '../../../crds/schema-node.ts';
import { writableUserFields } from '../../../api/records/user-document.ts';
import { claimEpoch } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { adminSecret, startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';
import {
  absentBoxFields,
  absentClientFields,
  absentPolicyFields,
  clientSamples,
  fullBox,
  groupSamples,
  policySamples,
  userSamples,
} from './every-field.ts';

const formats = ['application/json', 'application/yaml'] as const;

describe('a resource as it was read', () => {
  let api: BoxApi;
  /** The path of each resource. */
  const places: string[] = [];

  before(async () => {
    api = await startBoxApi();
    for (const [id, body] of Object.entries(clientSamples)) await put(`/Client/${id}`, body);
    for (const [id, body] of Object.entries(policySamples)) await put(`/AccessPolicy/${id}`, body);
    const groups: number[] = [];
    for (const body of groupSamples) groups.push(await post('/Group', body));
    for (const body of userSamples(groups)) await post('/users', body);
    const { body } = await api.call('GET', '/Session?_result=array&_count=1');
    places.push(`/Session/${String(Reflect.get(Object(Array.isArray(body) ? body[0] : undefined), 'id'))}`);
  });
  after(() => api.stop());

  async function put(place: string, body: object): Promise<void> {
    const { status, text } = await api.call('PUT', place, { body });
    expect(status, text).to.equal(201);
    places.push(place);
  }

  async function post(path: string, fields: object): Promise<number> {
    const { status, body, text } = await api.call('POST', path, { body: fields });
    expect(status, text).to.equal(201);
    const id = Number(Reflect.get(Object(body), 'id'));
    places.push(`${path}/${String(id)}`);
    return id;
  }

  for (const format of formats) {
    it(`R-47: is sent back as ${format}: 200, the same version, and nothing is written`, async () => {
      expect(places.length).to.be.greaterThan(15);
      for (const place of places) {
        const [read, before] = [await api.call('GET', place, { accept: format }), await everyRow(api)];
        const reply = await api.call('PUT', place, { body: read.text, type: format, accept: format });
        expect(reply.status, `${place}: ${reply.text}`).to.equal(200);
        expect(shown(reply), place).to.deep.equal(shown(read));
        expect(await everyRow(api), place).to.deep.equal(before);
      }
    });

    it(`R-47: is sent back as ${format} on the condition that it is the version that was read`, async () => {
      for (const place of places) {
        const [read, before] = [await api.call('GET', place, { accept: format }), await everyRow(api)];
        const headers = { 'If-Match': read.headers.get('etag') ?? '' };
        const reply = await api.call('PUT', place, { body: read.text, type: format, accept: format, headers });
        expect([reply.status, shown(reply)], place).to.deep.equal([200, shown(read)]);
        expect(await everyRow(api), place).to.deep.equal(before);
      }
    });
  }

  it('R-47: is sent back in the other format, as another program writes it', async () => {
    for (const place of places) {
      const [read, before] = [await api.call('GET', place), await everyRow(api)];
      const asYaml = await api.call('PUT', place, {
        body: stringify(read.body, { version: '1.1' }),
        type: 'application/yaml',
      });
      expect([asYaml.status, shown(asYaml)], `${place}: ${asYaml.text}`).to.deep.equal([200, shown(read)]);
      const { body } = await api.call('GET', place, { accept: 'application/yaml' });
      const asJson = await api.call('PUT', place, { body });
      expect([asJson.status, shown(asJson)], `${place}: ${asJson.text}`).to.deep.equal([200, shown(read)]);
      expect(await everyRow(api), place).to.deep.equal(before);
    }
  });

  it('R-47: is changed by an empty patch as little as by a PUT of a user without fields', async () => {
    for (const place of places) {
      const [read, before] = [await api.call('GET', place), await everyRow(api)];
      const method = place.startsWith('/users') ? 'PUT' : 'PATCH';
      const reply = await api.call(method, place, { body: {} });
      expect([reply.status, shown(reply)], `${place}: ${reply.text}`).to.deep.equal([200, shown(read)]);
      expect(await everyRow(api), place).to.deep.equal(before);
    }
  });

  it('R-47: has, in these tests, every field of every schema', async () => {
    const bodies = await Promise.all(places.map(async (place) => ({ place, ...(await api.call('GET', place)) })));
    const found = (path: string): ReadonlySet<string> =>
      new Set(bodies.filter(({ place }) => place.startsWith(path)).flatMap(({ body }) => leavesOf(body)));
    const unread = {
      Client: missing(schemaNode(clientSchema), found('/Client')).toSorted(),
      AccessPolicy: missing(schemaNode(accessPolicySchema), found('/AccessPolicy')),
      User: writableUserFields.filter((field) => !found('/users').has(field) && field !== 'group-ids'),
    };
    expect(unread, 'add a value of each to test/http/resources/every-field.ts').to.deep.equal({
      Client: absentClientFields.toSorted(),
      AccessPolicy: absentPolicyFields,
      User: [],
    });
  });

  it('R-47: is not written when its object is applied again, whatever its kind', async () => {
    const absent = missing(schemaNode(boxSchema), new Set(leavesOf({ id: 'b', ...fullBox })));
    expect(absent, 'add a value of each to test/http/resources/every-field.ts').to.deep.equal(absentBoxFields);
    const { 'full-client': client, ...policies } = { ...clientSamples, ...policySamples };
    const declared = { 'full-client': { ...client, first_party: true }, ...policies, again: fullBox };
    const answers = await applied(api, declared);
    expect(answers.map(({ result }) => result)).to.deep.equal(Object.keys(declared).map(() => 'created'));
    const itsRows = () => everyRow({ database: api.databaseOf('again') });
    const before = await itsRows();
    const again = await applied(api, declared);
    expect(again.map(({ result }) => result)).to.deep.equal(Object.keys(declared).map(() => 'unchanged'));
    expect(await itsRows()).to.deep.equal(before);
    expect(await applied(api, { ...declared, again: { ...fullBox, active: false } }, 'other')).not.to.deep.equal(again);
    expect(await itsRows()).not.to.deep.equal(before);
  });

  it('R-16 a client that is sent back keeps its secret', async () => {
    expect((await api.call('GET', '/Client/full-client')).body).not.to.have.property('secret');
    expect((await api.requestToken('full-client', 'a chosen secret')).status).to.equal(200);
    expect((await api.requestToken('admin', adminSecret)).status).to.equal(200);
  });
});

/** Returns what a reply shows, with its version; without the warnings of a write. */
function shown({ body, headers }: Reply): object {
  const { warnings: _warnings, ...fields } = isObject(body) ? body : {};
  return { fields, version: headers.get('etag')?.replace('-yaml', '') };
}

/** Applies resources to the box `again`, as the operator does; what became of each of them. */
async function applied(
  { managementUrl, managementKey }: BoxApi,
  resources: Readonly<Record<string, object>>,
  digest = 'd',
): Promise<readonly { readonly result: unknown }[]> {
  const epoch = await claimEpoch(managementUrl, managementKey, 'again');
  const lines = Object.entries(resources).map(([id, resource]) => {
    const kind = String(Reflect.get(resource, 'resourceType'));
    return { kind, id, owner: { name: `again/${id}`, uid: `uid-of-${id}` }, digest, resource: { ...resource, id } };
  });
  const response = await fetch(`${managementUrl}/boxes/again/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${managementKey}`, 'Content-Type': 'application/x-ndjson' },
    body: [{ cluster: 'again', epoch, complete: false }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  const answers = (await response.text()).trim().split('\n');
  return answers.slice(0, -1).map((answer) => {
    const result: unknown = Reflect.get(Object(JSON.parse(answer)), 'result');
    return { result };
  });
}

/** Returns the fields of a schema that no resource has. */
function missing(schema: SchemaNode, found: ReadonlySet<string>): readonly string[] {
  const leaves = fieldsOf(schema).filter(({ isLeaf }) => isLeaf);
  return leaves.map(({ path }) => path).filter((path) => !found.has(path));
}

/** Returns the dotted names of all members of a value, those of a list as `list[].member`. */
function leavesOf(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return [at, ...value.flatMap((one) => leavesOf(one, `${at}[]`))];
  if (typeof value !== 'object' || value === null) return [at];
  const members = Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, at === '' ? name : `${at}.${name}`),
  );
  return [at, ...members];
}

/** Rows that are written in the background, whatever is asked. */
const apart: readonly string[] = [
  'client_usage',
  'failed_attempt',
  // Its beat is raised in every database of several.
  'identity',
  'operator_epoch',
  'policy_use',
  'recorded_request',
  'session_count',
];

/** Returns which transaction wrote each row of the database, by table. */
async function everyRow(api: Pick<BoxApi, 'database'>): Promise<Readonly<Record<string, unknown>>> {
  const tables = await ownerQuery(
    api,
    `SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname = 'boxgate' AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
    [],
  );
  const names = tables.map(({ name }) => String(name)).filter((name) => !apart.includes(name));
  const each = names.map(
    (name) =>
      `SELECT '${name}' AS name, count(*) AS rows, max(xmin::text::bigint) AS last, sum(xmin::text::bigint) AS all FROM boxgate."${name}"`,
  );
  const rows = await ownerQuery(api, each.join(' UNION ALL '), []);
  return Object.fromEntries(rows.map(({ name, ...written }) => [String(name), written]));
}

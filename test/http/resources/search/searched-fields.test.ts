import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { ResourceKind } from '../../../../api/http/resources/resource-exchange.ts';
import { resourceRoutes, userRoutes } from '../../../../api/http/resources/resource-routes.ts';
import type { SearchDefinition } from '../../../../api/records/search/parameters.ts';
import { auditEvent } from '../../../../api/records/audit-event.ts';
import { accessPolicy } from '../../../../api/records/access-policy.ts';
import { client } from '../../../../api/records/client.ts';
import { session } from '../../../../api/records/session.ts';
import { grant } from '../../../../api/records/grant.ts';
import { group } from '../../../../api/records/group.ts';
import { user } from '../../../../api/records/user.ts';
import { eventually } from '../../../support/eventually.ts';
import { ownerQuery } from '../../../support/owner-query.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

type Kind = ResourceKind | 'User';

/** Every definition of a search, by kind. */
const definitions: Readonly<Record<Kind, readonly SearchDefinition<object>[]>> = {
  ...{ Client: [client.search], AccessPolicy: [accessPolicy.search] },
  ...{ Group: [group.search], Grant: [grant.search], Session: [session.search] },
  AuditEvent: [auditEvent.search],
  User: [user.search],
};

/** Filters that are no field of their resource, each with the field that it looks at and the reason. */
const noFields: Readonly<Partial<Record<Kind, Readonly<Record<string, readonly [field: string, reason: string]>>>>> = {
  User: {
    q: ['email', 'a text search: emails that begin with the text'],
    'group-id': ['group-ids', 'one group: a user has a list of them'],
  },
  AuditEvent: {
    client: ['actor', 'the client is a part of the actor'],
    user: ['actor', 'the user is a part of the actor'],
    remote_addr: ['actor', 'the address is a part of the actor'],
  },
};

const kinds = Object.entries(definitions).map(([kind, searches]) => {
  const filters = new Set(searches.flatMap((one) => [...Object.keys(one.filters), ...Object.keys(one.ranges)]));
  const sorts = new Set(searches.flatMap((one) => Object.keys(one.sorts)));
  const exceptions = new Map(Object.entries(new Map(Object.entries(noFields)).get(kind) ?? {}));
  const fields = [...new Set([...sorts, ...filters].map((name) => exceptions.get(name)?.[0] ?? name))].sort();
  return { kind, searches, filters, sorts, exceptions, fields };
});

/** The cells of a row of the table of searches in docs/reference/resource-api.md: filters, and orders. */
function documented(kind: string): readonly (readonly string[])[] {
  const page = readFileSync('docs/reference/resource-api.md', 'utf8');
  const [, table = ''] = page.split('| kind | filters | `_sort` (default first) |\n');
  const row = table.split('\n').find((line) => new RegExp(`^\\| ${kind}\\b`).test(line)) ?? '';
  const cells = row.split('|').slice(2, 4);
  return cells.map((cell) =>
    [...cell.replaceAll(/\([^)]*\)/g, '').matchAll(/`-?([\w-]+)`/g)].map(([, name = '']) => name).sort(),
  );
}

describe('R-48 the fields that searches filter and sort by', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    const client = { id: 'shown', name: 'Shown', active: true, grant_types: ['client_credentials'], secret: 's' };
    const link = [{ resourceType: 'Client', id: 'shown' }];
    const group = await api.call('POST', '/Group', { body: { name: 'shown' } });
    const groups = [Reflect.get(Object(group.body), 'id')];
    const user = { email: 'ann@mail.example', password: 'correct horse', status: 'active', 'group-ids': groups };
    for (const [path, body] of [
      ['/Client', client],
      ['/AccessPolicy', { id: 'shown', engine: 'allow', subjects: 'linked', link }],
      ['/users', user],
    ] as const) {
      const { status, text } = await api.call('POST', path, { body });
      expect(status, text).to.equal(201);
    }
    await ownerQuery(
      api,
      `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       SELECT u.box, u.id, r.id, '{}', r.version, now() FROM boxgate.user u
         JOIN boxgate.resource r ON r.box = u.box AND r.kind = 'Client' AND r.id = $1 WHERE u.box = 'default'`,
      ['shown'],
    );
    await api.requestToken('admin', 'another secret');
    await eventually('the refusal is recorded', async () =>
      (await api.call('GET', '/AuditEvent?reason=wrong_secret')).text.includes('"reason":"wrong_secret"'),
    );
  });
  after(() => api.stop());

  it('R-48 are known here for every path that can be searched', () => {
    const searched = [...resourceRoutes, ...userRoutes].filter(
      ({ method, path }) => method === 'GET' && !path.includes(':id'),
    );
    expect(searched.map(({ kind }) => kind).sort()).to.deep.equal(kinds.map(({ kind }) => kind).sort());
  });

  for (const { kind, searches, filters, sorts, exceptions, fields } of kinds) {
    it(`R-48 ${kind}: each is one of _elements, unless it is listed here with a reason`, () => {
      for (const { elements } of searches) expect([...elements]).to.include.members(fields);
      for (const [name, [field, reason]] of exceptions) {
        expect(filters.has(name), `${name} is a filter`).to.equal(true);
        for (const { elements } of searches) expect(elements.has(name), `${name} is no field`).to.equal(false);
        expect([field, reason]).not.to.include('');
      }
    });

    it(`R-48 ${kind}: each is shown by a read and by a search`, async () => {
      const path = kind === 'User' ? '/users' : `/${kind}`;
      const listed = await api.call('GET', kind === 'User' ? path : `${path}?_result=array`);
      const views = (Array.isArray(listed.body) ? listed.body : []).filter(isObject);
      const isIn = (view: object) => (field: string) => Object.hasOwn(view, field);
      const missing = fields.filter((field) => !views.some((view) => isIn(view)(field)));
      expect(missing, listed.text).to.deep.equal([]);
      for (const view of views) {
        const its = fields.filter(isIn(view));
        const read = await api.call('GET', `${path}/${String(view['id'])}`);
        expect(read.status, read.text).to.equal(200);
        expect(read.body).to.include.all.keys(its);
        if (kind === 'User') continue;
        const only = await api.call('GET', `${path}/${String(view['id'])}?_elements=${fields.join()}`);
        expect(only.body).to.have.all.keys([...new Set(['resourceType', 'id', ...its])]);
      }
    });

    it(`R-48 ${kind}: the table of searches in the docs lists them`, () => {
      expect(documented(kind)).to.deep.equal([[...filters].sort(), [...sorts].sort()]);
    });
  }
});

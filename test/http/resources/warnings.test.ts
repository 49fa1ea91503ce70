import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

// E-18: REST tells what a status would tell of a resource that is declared.

const nobody = 'link is empty: the policy grants nobody';
const noCondition = 'the rule has no condition: it grants every request of the subjects';
const link = [{ resourceType: 'Client', id: 'admin' }];
const missing = Array.from({ length: 7 }, (_, nth) => ({ resourceType: 'Client', id: `c${String(nth)}` }));

const rows: readonly [path: string, body: object, warnings: readonly string[]][] = [
  ['/AccessPolicy/none', { engine: 'allow' }, [nobody]],
  ['/AccessPolicy/linked', { engine: 'allow', link: [...link, { resourceType: 'Client', id: 'boxgate.ui' }] }, []],
  [
    '/AccessPolicy/dangling',
    { engine: 'allow', link: [{ resourceType: 'Group', id: 'a "b"' }] },
    ['not there: Group/a "b"'],
  ],
  [
    '/AccessPolicy/many',
    { engine: 'allow', link: missing },
    ['not there: Client/c0, Client/c1, Client/c2, Client/c3, Client/c4 and 2 more'],
  ],
  ['/AccessPolicy/matcho', { engine: 'matcho', matcho: {}, link }, [noCondition]],
  [
    '/AccessPolicy/open',
    { engine: 'matcho', matcho: {}, subjects: 'anyone' },
    ['every request is granted, also without a token', noCondition],
  ],
  ['/AccessPolicy/app', { engine: 'allow', subjects: 'anyone', apps: ['app'] }, []],
  ['/Client/idle', { grant_types: [] }, ['grant_types is empty: the client gets no token, it can only check tokens']],
  ['/Client/useful', { grant_types: ['client_credentials'], secret: 's3cr3t' }, []],
  [
    '/Client/refresh',
    { grant_types: ['client_credentials', 'refresh_token'], secret: 's3cr3t' },
    ['refresh_token in grant_types has no effect: no listed grant issues refresh tokens'],
  ],
];

describe('warnings about a resource that was written over REST', () => {
  let api: BoxApi;
  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const warningsOf = ({ body }: Reply): unknown => (isObject(body) ? (body['warnings'] ?? []) : undefined);
  const headerOf = ({ headers }: Reply): string => headers.get('Warning') ?? '';
  const header = (warnings: readonly string[]): string =>
    warnings.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(', ');

  for (const [path, body, warnings] of rows)
    it(`are ${String(warnings.length)} for ${path}`, async () => {
      const [, kind = '', id = ''] = path.split('/');
      const created = await api.call('PUT', path, { body });
      const read = await api.call('GET', path);
      const again = await api.call('PUT', path, { body: created.body });
      const yaml = await api.call('PATCH', path, { body: {}, accept: 'application/yaml' });
      expect([created.status, read.status, again.status], again.text).to.deep.equal([201, 200, 200]);
      for (const reply of [created, again, yaml]) {
        expect(warningsOf(reply)).to.deep.equal(warnings);
        expect(headerOf(reply)).to.equal(header(warnings));
      }
      expect(again.headers.get('ETag')).to.equal(read.headers.get('ETag'));
      expect([warningsOf(read), headerOf(read)]).to.deep.equal([[], '']);
      const deleted = await api.call('DELETE', path);
      expect([warningsOf(deleted), headerOf(deleted)]).to.deep.equal([[], '']);
      const posted = await api.call('POST', `/${kind}`, { body: { ...body, id } });
      expect([posted.status, warningsOf(posted), headerOf(posted)]).to.deep.equal([201, warnings, header(warnings)]);
    });

  it('ends when what a policy links is there', async () => {
    const body = { engine: 'allow', link: [{ resourceType: 'Client', id: 'later' }] };
    expect(warningsOf(await api.call('PUT', '/AccessPolicy/early', { body }))).to.deep.equal([
      'not there: Client/later',
    ]);
    await api.call('PUT', '/Client/later', { body: { grant_types: ['client_credentials'], secret: 's3cr3t' } });
    expect(warningsOf(await api.call('PUT', '/AccessPolicy/early', { body }))).to.deep.equal([]);
  });

  it('creates a UUID for a resource that is posted without an id', async () => {
    const { status, body, headers } = await api.call('POST', '/AccessPolicy', { body: { engine: 'allow', link } });
    const id = isObject(body) ? String(body['id']) : '';
    expect([status, id].join()).to.match(/^201,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(headers.get('Location')).to.match(new RegExp(`/AccessPolicy/${id}$`));
  });
});

import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { createdAt } from '../../support/created-at.ts';
import { nextMillisecond } from '../../support/eventually.ts';
import { complaints, entries, linkOf, sentences, startBoxApi } from './box-api.ts';
import type { BoxApi, CallOptions, Reply } from './box-api.ts';

const mergePatch = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const formats = ['application/json', 'application/yaml'] as const;

/** A resource of each kind that the service stores as it is submitted. */
const bodies = {
  Client: { grant_types: ['client_credentials'], secret: 's3cr3t', name: 'Orders' },
  AccessPolicy: { engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }], description: 'Orders' },
} as const;

for (const [kind, body] of Object.entries(bodies)) {
  describe(`R-48 created_at of ${kind === 'Client' ? 'a Client' : 'an AccessPolicy'} over REST`, () => {
    let api: BoxApi;
    let nth = 0;

    before(async () => {
      api = await startBoxApi();
    });
    after(() => api.stop());

    /** A field that these tests change. */
    const text = kind === 'Client' ? 'name' : 'description';
    const tagOf = ({ headers }: Reply): string => headers.get('etag') ?? '';
    const fieldsOf = ({ body: shown }: Reply): Readonly<Record<string, unknown>> => (isObject(shown) ? shown : {});

    /** A new resource, with what the service answered. */
    async function create(): Promise<{ readonly path: string; readonly id: string; readonly created: Reply }> {
      const id = `of-${String((nth += 1))}`;
      const created = await api.call('POST', `/${kind}`, { body: { ...body, id } });
      expect(created.status, created.text).to.equal(201);
      return { path: `/${kind}/${id}`, id, created };
    }

    /** Demands that a request is refused for the named fields, and that the resource is as it was. */
    async function expectRefused(method: string, path: string, options: CallOptions, fields = ['created_at']) {
      const state = async () => {
        const found = await api.call('GET', path);
        return found.status === 200 ? [found.body, tagOf(found)] : [];
      };
      const before = await state();
      const reply = await api.call(method, path, options);
      expect([reply.status, complaints(reply).toSorted()], reply.text).to.deep.equal([422, fields]);
      expect(await state()).to.deep.equal(before);
      return reply;
    }

    it('is in every answer, and stays what it was', async () => {
      const { path, id, created } = await create();
      const time = createdAt(created.body);
      await nextMillisecond();
      const answers = [
        await api.call('GET', path),
        await api.call('PUT', path, { body: { ...body, [text]: 'replaced' } }),
        await api.call('PATCH', path, { body: { [text]: 'merged' }, type: mergePatch }),
        await api.call('PATCH', path, { body: [{ op: 'remove', path: `/${text}` }], type: jsonPatch }),
      ];
      const listed = await api.call('GET', `/${kind}?id=${id}&_result=array`);
      const found = [...entries(await api.call('GET', `/${kind}?id=${id}`)), ...[listed.body].flat()];
      expect(found).to.have.length(2);
      const shown = [...answers.map(fieldsOf), ...found, fieldsOf(await api.call('DELETE', path))];
      expect(shown.map(createdAt)).to.deep.equal(shown.map(() => time));
    });

    it('is the same text in YAML', async () => {
      const { path, created } = await create();
      const read = await api.call('GET', path, { accept: 'application/yaml' });
      expect(read.body).to.deep.equal((await api.call('GET', path)).body);
      expect(read.text).to.contain(`created_at: "${createdAt(created.body)}"\n`);
    });

    it('is a field of _elements, of a read and of a search', async () => {
      const { path, id, created } = await create();
      const only = { resourceType: kind, id, created_at: createdAt(created.body) };
      expect((await api.call('GET', `${path}?_elements=created_at`)).body).to.deep.equal(only);
      expect(entries(await api.call('GET', `/${kind}?id=${id}&_elements=created_at`))).to.deep.equal([only]);
      expect((await api.call('GET', `${path}?_elements=id`)).body).to.deep.equal({ resourceType: kind, id });
    });

    it('finds the resource by the value that is shown, and orders pages', async () => {
      const made: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        made.push(createdAt((await create()).created.body));
        await nextMillisecond();
      }
      expect(made).to.deep.equal([...new Set(made)].sort());
      const times = async (query: string): Promise<readonly string[]> =>
        entries(await api.call('GET', `/${kind}?${query}`)).map(createdAt);
      for (const time of made) expect(await times(`created_at=${time}`)).to.deep.equal([time]);
      const range = `created_at=ge${made[0] ?? ''}&created_at=le${made[2] ?? ''}`;
      expect(await times(`${range}&_sort=created_at`)).to.deep.equal(made);
      const seen: string[] = [];
      let path: string | undefined = `/${kind}?${range}&_sort=-created_at&_count=1&_elements=created_at`;
      while (path !== undefined) {
        const page: Reply = await api.call('GET', path);
        seen.push(...entries(page).map(createdAt));
        path = linkOf(page, 'next');
      }
      expect(seen).to.deep.equal(made.toReversed());
    });

    for (const format of formats) {
      it(`is accepted as it was read, in ${format}`, async () => {
        const { path } = await create();
        const read = await api.call('GET', path, { accept: format });
        for (const headers of [{}, { 'If-Match': tagOf(read) }]) {
          const put = await api.call('PUT', path, { body: read.text, type: format, accept: format, headers });
          expect([put.status, put.body, tagOf(put)], put.text).to.deep.equal([200, read.body, tagOf(read)]);
        }
        const changed = await api.call('PUT', path, { body: { ...fieldsOf(read), [text]: 'new' } });
        expect([changed.status, fieldsOf(changed)]).to.deep.equal([200, { ...fieldsOf(read), [text]: 'new' }]);
      });
    }

    it('is accepted as it was read by both forms of PATCH', async () => {
      const { path, created } = await create();
      const time = createdAt(created.body);
      const read = await api.call('GET', path);
      const patches: readonly (readonly [string, unknown])[] = [
        [mergePatch, { created_at: time }],
        [mergePatch, read.body],
        [jsonPatch, [{ op: 'test', path: '/created_at', value: time }]],
        [jsonPatch, [{ op: 'replace', path: '/created_at', value: time }]],
        [jsonPatch, [{ op: 'replace', path: '', value: read.body }]],
        // What is left out stays, as with PUT.
        [mergePatch, { created_at: null }],
        [jsonPatch, [{ op: 'remove', path: '/created_at' }]],
      ];
      for (const [type, patch] of patches) {
        const reply = await api.call('PATCH', path, { body: patch, type });
        const what = JSON.stringify(patch);
        expect([reply.status, reply.body, tagOf(reply)], what).to.deep.equal([200, read.body, tagOf(read)]);
      }
    });

    it('is refused with another value, by PUT and by both forms of PATCH', async () => {
      const { path, created } = await create();
      const time = createdAt(created.body);
      const read = fieldsOf(await api.call('GET', path));
      for (const value of ['2020-01-01T00:00:00.000Z', `${time.slice(0, -1)}+00:00`, null, 17, '', { a: 1 }]) {
        await expectRefused('PUT', path, { body: { ...read, created_at: value } });
        const replaced = [{ op: 'replace', path: '/created_at', value }];
        await expectRefused('PATCH', path, { body: replaced, type: jsonPatch });
        if (value !== null) await expectRefused('PATCH', path, { body: { created_at: value }, type: mergePatch });
      }
      const reply = await expectRefused('PUT', path, { body: { ...read, created_at: 'x' } });
      expect(sentences(reply)).to.deep.equal([
        'created_at cannot be set: the service sets it. Leave it out, or send it as it was read',
      ]);
    });

    it('is told with every other fault', async () => {
      const { path, created } = await create();
      const faulty = { ...fieldsOf(created), [text]: 17, unknown: 1 };
      await expectRefused('PUT', path, { body: faulty }, [text, 'unknown'].sort());
      const wrong = { ...faulty, created_at: 'x' };
      await expectRefused('PUT', path, { body: wrong }, ['created_at', text, 'unknown'].sort());
      await expectRefused('PATCH', path, { body: wrong, type: mergePatch }, ['created_at', text, 'unknown'].sort());
      const strange = await api.call('PUT', `/${kind}/%20`, { body: { ...body, created_at: 'x' } });
      expect([strange.status, complaints(strange)]).to.deep.equal([422, ['id']]);
    });

    it('is ignored where nothing is there yet, as are other fields that a service sets', async () => {
      const submitted = { ...body, created_at: '2020-01-01T00:00:00.000Z', updated_at: 'x', meta: { versionId: '1' } };
      const posted = await api.call('POST', `/${kind}`, { body: { ...submitted, id: `posted-${text}` } });
      const put = await api.call('PUT', `/${kind}/put-${text}`, { body: submitted });
      expect([posted.status, put.status]).to.deep.equal([201, 201]);
      for (const reply of [posted, put]) {
        expect(createdAt(reply.body) > submitted.created_at).to.equal(true);
        expect(fieldsOf(reply)).not.to.have.any.keys('updated_at', 'meta');
      }
      await expectRefused('PUT', `/${kind}/copied`, { body: { ...submitted, unknown: 1 } }, ['unknown']);
      await expectRefused('PUT', `/${kind}/put-${text}`, { body: { ...body, meta: {} } }, ['meta']);
    });

    it('is another one after a deletion', async () => {
      const { path, id } = await create();
      const read = await api.call('GET', path);
      const putBack = (headers: Readonly<Record<string, string>>) =>
        api.call('PUT', path, { body: { ...body, ...fieldsOf(read) }, headers });
      await api.call('DELETE', path);
      expect((await putBack({ 'If-Match': tagOf(read) })).status).to.equal(412);
      await nextMillisecond();
      const again = await api.call('POST', `/${kind}`, { body: { ...body, id } });
      expect(createdAt(again.body) > createdAt(read.body)).to.equal(true);
      expect((await putBack({ 'If-Match': tagOf(read) })).status).to.equal(412);
      const reply = await putBack({});
      expect([reply.status, complaints(reply)]).to.deep.equal([422, ['created_at']]);
      expect((await api.call('GET', path)).body).to.deep.equal(again.body);
    });

    it('is shown of what a custom resource declares, which stays managed', async () => {
      const read = await api.call('GET', `/${kind}/admin`);
      createdAt(read.body);
      const put = await api.call('PUT', `/${kind}/admin`, { body: read.body });
      expect([put.status, sentences(put)[0]]).to.deep.equal([
        409,
        `${kind} admin is declared by the custom resource default/admin: change or delete it there`,
      ]);
    });

    it('is the same after its object is declared again', async () => {
      const object = (description: string) =>
        kind === 'Client'
          ? { kind: 'Client' as const, id: 'declared', grant_types: [], description }
          : { kind: 'AccessPolicy' as const, id: 'declared', engine: 'allow' as const, description };
      await api.declare('default', [object('one')]);
      const read = await api.call('GET', `/${kind}/declared`);
      await nextMillisecond();
      await api.declare('default', [object('two')]);
      const again = await api.call('GET', `/${kind}/declared`);
      expect(fieldsOf(again)).to.deep.equal({ ...fieldsOf(read), description: 'two' });
      expect(tagOf(again)).not.to.equal(tagOf(read));
    });
  });
}

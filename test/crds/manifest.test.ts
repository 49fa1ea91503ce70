import { expect } from 'chai';
import { faultSentence } from '../../crds/fault.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { table } from './objects/table.ts';
import { manifest, type Row } from './objects/row.ts';

/** The fields that our check refuses in a row, sorted, each once. */
function refusedPaths(row: Row): string[] {
  const checked = checkManifest(row.object);
  return checked.ok ? [] : [...new Set(checked.faults.map(({ path }) => path))].sort();
}

function expected(row: Row): string[] {
  return [...row.paths].sort();
}

describe('checkManifest', () => {
  it('has a table of at least 250 objects, no title twice', () => {
    const titles = table.map(({ kind, title }) => `${kind}: ${title}`);
    expect(titles.length).to.be.at.least(250);
    expect(new Set(titles).size).to.equal(titles.length);
  });

  for (const verdict of ['accepted', 'refused', 'valid-false'] as const) {
    describe(verdict, () => {
      // Only the API server knows the object that is replaced.
      for (const row of table.filter((one) => one.verdict === verdict && one.old === undefined)) {
        it(`${row.kind}: ${row.title}`, () => {
          expect(refusedPaths(row)).to.deep.equal(expected(row));
        });
      }
    });
  }

  const strangers: [title: string, value: unknown, sentence: string][] = [
    ['nothing', undefined, 'must be an object with apiVersion, kind, metadata and spec'],
    ['a list', [], 'must be an object with apiVersion, kind, metadata and spec'],
    ['text', 'kind: Client', 'must be an object with apiVersion, kind, metadata and spec'],
    ['an object of another group', { apiVersion: 'v1', kind: 'Secret' }, 'apiVersion must be boxgate.dev/v1'],
    ['an older version', { apiVersion: 'boxgate.dev/v1alpha1', kind: 'Client' }, 'apiVersion must be boxgate.dev/v1'],
    [
      'another kind',
      { apiVersion: 'boxgate.dev/v1', kind: 'Session' },
      'kind must be one of Box, Client, AccessPolicy, Group',
    ],
    [
      'a kind that every object has',
      { apiVersion: 'boxgate.dev/v1', kind: 'toString' },
      'kind must be one of Box, Client, AccessPolicy, Group',
    ],
    ['no kind', { apiVersion: 'boxgate.dev/v1' }, 'kind must be one of Box, Client, AccessPolicy, Group'],
  ];
  for (const [title, value, sentence] of strangers) {
    it(`refuses ${title}`, () => {
      const checked = checkManifest(value);
      expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([sentence]);
    });
  }

  const names: [metadata: unknown, paths: string[]][] = [
    [undefined, ['metadata']],
    [{}, ['metadata.name']],
    [{ name: 'App' }, ['metadata.name']],
    [{ name: 'a'.repeat(254) }, ['metadata.name']],
    [{ name: 'app', namespace: 'a.b' }, ['metadata.namespace']],
    [{ name: 'app', namespace: 'a'.repeat(64) }, ['metadata.namespace']],
    [{ name: 'app', labels: { a: 'b' }, annotations: { 'x/y': '' }, managedFields: [{}], finalizers: ['x'] }, []],
  ];
  for (const [metadata, paths] of names) {
    it(`validates the names of metadata ${JSON.stringify(metadata ?? null).slice(0, 60)}`, () => {
      const checked = checkManifest({ ...manifest('Client', {}), metadata });
      expect(checked.ok ? [] : checked.faults.map(({ path }) => path)).to.deep.equal(paths);
    });
  }

  it('returns the object without its nulls, and with those of free data', () => {
    const checked = checkManifest(manifest('Client', { name: null, auth: { implicit: null }, details: { a: null } }));
    expect(checked.ok && checked.manifest.spec).to.deep.equal({
      grant_types: ['client_credentials'],
      auth: {},
      details: { a: null },
    });
  });
});

import { expect } from 'chai';
import path from 'node:path';
import type { Source } from '../../../operator/desired/source.ts';
import { FolderReader, type FolderProblem } from '../../../dev/folder/reader.ts';
import { createFolderSource, placeOfField } from '../../../dev/folder/source.ts';
import { eventually } from '../../support/eventually.ts';
import { clientYaml, temporaryFolder, type TemporaryFolder } from '../temporary-folder.ts';

describe('createFolderSource', () => {
  let folder: TemporaryFolder;
  let reader: FolderReader;
  let source: Source;
  let stopping: AbortController;
  let problems: readonly FolderProblem[];
  let changed: string[];
  let emptied: string[] = [];

  beforeEach(async () => {
    folder = temporaryFolder();
    stopping = new AbortController();
    problems = [];
    changed = [];
    folder.write('a.yaml', clientYaml('a'));
    reader = new FolderReader({
      folder: folder.root,
      excluded: folder.path('.boxgate'),
      display: (file) => path.relative(folder.root, file),
      onProgress: () => undefined,
      now: () => performance.now(),
    });
    await reader.listAll();
    emptied = [];
    source = createFolderSource(reader, folder.root, {
      writeStatus: () => Promise.resolve(),
      onProblems: (found) => (problems = found),
      onEmpty: (box) => emptied.push(box),
    });
  });
  afterEach(() => {
    stopping.abort();
    folder.remove();
  });

  const watch = () => source.watch((box) => changed.push(box), stopping.signal);
  const names = async (box = 'default') =>
    (await source.list(box, stopping.signal)).objects.map(({ name }) => name).sort();
  const has = (...expected: string[]) =>
    eventually(`there are ${expected.join()}`, async () => (await names()).join() === expected.join());

  it('R-45 says of a box without objects that it is gone, once two listings have missed them and every file can be read', async () => {
    folder.write('b.yaml', clientYaml('b', '', 'other'));
    watch();
    await eventually('it is there', async () => (await names('other')).join() === 'b');
    folder.write('broken.yaml', 'kind: [');
    folder.remove('b.yaml');
    await eventually('the broken file is seen', () => problems.length > 0);
    expect(await source.list('other', stopping.signal)).not.to.have.property('isGone');
    expect(emptied).to.deep.equal([]);
    folder.remove('broken.yaml');
    await eventually('it is gone', async () => (await source.list('other', stopping.signal)).isGone === true);
    expect(await source.list('default', stopping.signal)).not.to.have.property('isGone');
    expect(emptied).to.deep.equal(['other']);
    folder.write('b.yaml', clientYaml('b', '', 'other'));
    await eventually('it is there again', async () => (await names('other')).join() === 'b');
    expect(await source.list('other', stopping.signal)).not.to.have.property('isGone');
  });

  it('lists what the reader has read', async () => {
    const listing = await source.list('default', stopping.signal);
    expect(listing.objects.map(({ key }) => key)).to.deep.equal(['Client/a']);
    expect(listing.complete).to.equal(true);
    expect(await source.boxes(stopping.signal)).to.deep.equal(['default']);
  });

  it('R-53 reads the quotas of a box from a Namespace manifest, and their defaults once it is gone', async () => {
    const quota = async () => (await source.list('default', stopping.signal)).quota;
    const namespace = (text: string) =>
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: {boxgate.dev/quota: "${text}"}}\n`;
    watch();
    folder.write('namespace.yaml', namespace('clients=2, users=7'));
    await eventually('the box was told of', () => changed.includes('default'));
    expect(await quota()).to.deep.equal({ quota: { clients: 2, users: 7 } });
    folder.save('namespace.yaml', namespace('clients=many'));
    await eventually('the mistake is named', async () => (await quota())?.fault !== undefined);
    expect((await quota())?.fault).to.contain('"clients=many" is not a name');
    folder.remove('namespace.yaml');
    await eventually('nothing is set', async () => JSON.stringify((await quota())?.quota) === '{}');
  });

  it('reads the database of a box from a Namespace manifest', async () => {
    const database = async () => (await source.list('default', stopping.signal)).database;
    const namespace = (text: string) =>
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: {boxgate.dev/database: "${text}"}}\n`;
    watch();
    folder.write('namespace.yaml', namespace('eu'));
    await eventually('the box was told of', () => changed.includes('default'));
    expect(await database()).to.deep.equal({ name: 'eu' });
    folder.save('namespace.yaml', namespace('EU'));
    await eventually('the mistake is named', async () => (await database())?.fault !== undefined);
    folder.remove('namespace.yaml');
    await eventually('none is wanted', async () => JSON.stringify(await database()) === '{}');
  });

  const changes: [title: string, change: () => void, names: string[]][] = [
    ['a file that is written', () => folder.write('b.yaml', clientYaml('b')), ['a', 'b']],
    ['a file that is saved by renaming', () => folder.save('a.yaml', clientYaml('b')), ['b']],
    ['a file that is renamed', () => folder.rename('a.yaml', 'z.yaml'), ['a']],
    ['a file that is removed', () => folder.remove('a.yaml'), []],
    ['a file in a new folder', () => folder.write('new/deep/b.yaml', clientYaml('b')), ['a', 'b']],
    ['one document of several', () => folder.write('a.yaml', `${clientYaml('a')}---\n${clientYaml('c')}`), ['a', 'c']],
  ];
  for (const [title, change, expected] of changes) {
    it(`hears of ${title}`, async () => {
      watch();
      change();
      await has(...expected);
      if (title !== 'a file that is renamed') {
        await eventually('the box was told of', () => changed.includes('default'));
      }
    });
  }

  it('hears of changes in a folder that was created again under its old name', async () => {
    folder.write('sub/b.yaml', clientYaml('b'));
    watch();
    await has('a', 'b');
    folder.remove('sub');
    await has('a');
    folder.write('sub/c.yaml', clientYaml('c'));
    await has('a', 'c');
    folder.write('sub/d.yaml', clientYaml('d'));
    await has('a', 'c', 'd');
  });

  it('does not list the folder when a file changes that no listing finds', async () => {
    const listAll = reader.listAll.bind(reader);
    let listings = 0;
    reader.listAll = () => {
      listings += 1;
      return listAll();
    };
    watch();
    folder.write('b.yaml', clientYaml('b'));
    await has('a', 'b');
    await eventually('it was listed', () => changed.includes('default'));
    const [before, began] = [listings, performance.now()];
    for (let nth = 0; nth < 8; nth += 1) {
      folder.write('app.log', `line ${String(nth)}`);
      folder.write('.b.yaml.swp', String(nth));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // One for the last change of a manifest, and those that come in any case.
    expect(listings - before).to.be.at.most(2 + Math.floor((performance.now() - began) / 2_000));
  });

  it('comes to rest after a storm of changes with what is there then', async () => {
    watch();
    for (let nth = 0; nth < 100; nth += 1) {
      folder.save('a.yaml', clientYaml('a', `  name: Number ${String(nth)}\n`));
      folder.write(`n${String(nth % 10)}.yaml`, clientYaml(`n${String(nth % 10)}`));
      if (nth % 3 === 0) folder.remove(`n${String(nth % 10)}.yaml`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const left = Array.from({ length: 10 }, (_, nth) => nth).filter((nth) => (90 + nth) % 3 !== 0);
    await has('a', ...left.map((nth) => `n${String(nth)}`));
    await eventually('the last text counts', async () => {
      const [object] = (await source.list('default', stopping.signal)).objects.filter(({ name }) => name === 'a');
      return JSON.stringify(object?.body()).includes('Number 99');
    });
  });

  it('says what cannot be read, and that it can be read again', async () => {
    watch();
    folder.write('a.yaml', 'a: [');
    await eventually('the problem is told', () => problems.length === 1);
    expect((await source.list('default', stopping.signal)).complete).to.equal(false);
    folder.write('a.yaml', clientYaml('a'));
    await eventually('it is told that it is solved', () => problems.length === 0);
    expect(await names()).to.deep.equal(['a']);
  });

  it('says that the folder itself is gone, and takes nothing in it for gone', async () => {
    watch();
    const elsewhere = `../${path.basename(folder.root)}-moved-away`;
    folder.rename('.', elsewhere);
    try {
      await eventually('the problem is told', () =>
        problems.some(({ message }) => message.includes('it is not there')),
      );
      expect(await names()).to.deep.equal(['a']);
    } finally {
      folder.rename(elsewhere, '.');
    }
  });

  it('hears nothing more once it is told to stop', async () => {
    watch();
    stopping.abort();
    folder.write('b.yaml', clientYaml('b'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(changed).to.deep.equal([]);
  });

  describe('confirmGone', () => {
    const question = { kind: 'Client', name: 'b', uid: 'default/b' } as const;
    const ask = () => source.confirmGone('default', [question], stopping.signal);

    it('confirms what two listings miss', async () => {
      expect([...(await ask())]).to.deep.equal([question]);
    });

    it('looks again: what appeared since the last listing is not gone', async () => {
      folder.write('b.yaml', clientYaml('b'));
      expect([...(await ask())]).to.deep.equal([]);
    });

    it('confirms nothing while a file cannot be read', async () => {
      folder.write('b.yaml', 'a: [');
      expect([...(await ask())]).to.deep.equal([]);
    });

    it('throws when the folder cannot be listed', async () => {
      folder.remove();
      const error: unknown = await ask().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Error);
    });
  });
});

describe('placeOfField', () => {
  it('names the line of a field, and the object when its file is gone', () => {
    const folder = temporaryFolder();
    folder.write('a.yaml', `# first\n${clientYaml('a')}`);
    const place = `${folder.path('a.yaml')}:2`;
    expect(placeOfField(place, 'spec.grant_types[0]')).to.equal(`${folder.path('a.yaml')}:7`);
    folder.remove();
    expect(placeOfField(place, 'spec.grant_types[0]')).to.equal(place);
  });
});

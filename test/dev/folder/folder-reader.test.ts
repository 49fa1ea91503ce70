import { expect } from 'chai';
import { symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FolderReader, MOMENT } from '../../../dev/folder/reader.ts';
import { clientYaml, temporaryFolder, type TemporaryFolder } from '../temporary-folder.ts';

describe('FolderReader', () => {
  let folder: TemporaryFolder;
  let reader: FolderReader;
  let progress: number[];
  let now = 0;

  beforeEach(() => {
    folder = temporaryFolder();
    progress = [];
    reader = new FolderReader({
      folder: folder.root,
      excluded: folder.path('state'),
      display: (file) => path.relative(folder.root, file),
      onProgress: (done) => progress.push(done),
      now: () => now,
    });
  });
  afterEach(() => folder.remove());

  /** `app@a.yaml:1`, for each object of a box. */
  const names = (box = 'default') =>
    reader.index
      .contents(box)
      .objects.map(({ name, place }) => `${name}@${place}`)
      .sort();
  const problems = () => reader.problems().map(({ file, line, message }) => `${file}:${String(line)}: ${message}`);
  const list = async (): Promise<string[]> => [...(await reader.listAll())].sort();
  const aMomentLater = () => void (now += MOMENT);

  it('reads every manifest of the folder and of those below it, and says in which boxes', async () => {
    folder.write('a.yaml', clientYaml('a'));
    folder.write('deep/er/b.yml', clientYaml('b', '', 'shop'));
    folder.write(
      'c.json',
      JSON.stringify({ apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name: 'c' }, spec: {} }),
    );
    expect(await list()).to.deep.equal(['default', 'shop']);
    expect(names()).to.deep.equal(['a@a.yaml:1', 'c@c.json:1']);
    expect(names('shop')).to.deep.equal(['b@deep/er/b.yml:1']);
    expect(reader.index.boxes()).to.have.members(['default', 'shop']);
    expect(problems()).to.deep.equal([]);
  });

  it('tells of an object of another API group that is named like one of ours, and withholds no removal for it', async () => {
    folder.write('a.yaml', `${clientYaml('a')}---\napiVersion: boxgate.io/v1\nkind: Client\nmetadata: {name: b}\n`);
    await list();
    expect(names()).to.deep.equal(['a@a.yaml:1']);
    expect(problems()).to.have.length(1);
    expect(problems()[0]).to.match(
      /^a\.yaml:\d+: Client of another API group is skipped; those of Boxgate have `apiVersion: boxgate\.dev\/v1`$/,
    );
    expect(reader.isComplete).to.equal(true);
    folder.write('a.yaml', `${clientYaml('a')}# without the other one\n`);
    await list();
    expect(problems()).to.deep.equal([]);
  });

  it('passes over other files, hidden ones, packages and the state folder', async () => {
    for (const file of [
      'notes.txt',
      '.hidden.yaml',
      '.git/a.yaml',
      'node_modules/x/a.yaml',
      'state/a.yaml',
      'a.yaml~',
    ]) {
      folder.write(file, clientYaml('x'));
    }
    await list();
    expect(names()).to.deep.equal([]);
  });

  it('follows links, also those that go in a circle', async () => {
    folder.write('real/a.yaml', clientYaml('a'));
    symlinkSync(folder.root, folder.path('real/circle'));
    symlinkSync(folder.path('real/a.yaml'), folder.path('linked.yaml'));
    symlinkSync('/nowhere', folder.path('broken.yaml'));
    await list();
    expect(names()).to.deep.equal(['a@linked.yaml:1']);
    expect(reader.isComplete).to.equal(true);
  });

  it('says nothing of an object that did not change, and reads no file again that did not', async () => {
    folder.write('a.yaml', clientYaml('a'));
    folder.write('b.yaml', clientYaml('b', '', 'shop'));
    await list();
    const before = reader.index.contents('default').objects;
    expect(await list()).to.deep.equal([]);
    folder.save('b.yaml', clientYaml('b', '  name: B\n', 'shop'));
    expect(await list()).to.deep.equal(['shop']);
    expect(reader.index.contents('default').objects[0]).to.equal(before[0]);
  });

  it('counts the generations of an object, not of its file', async () => {
    folder.write('a.yaml', `${clientYaml('a')}---\n${clientYaml('b')}`);
    await list();
    folder.save('a.yaml', `${clientYaml('a')}---\n${clientYaml('b', '  name: B\n')}`);
    await list();
    folder.save('a.yaml', `# a comment\n${clientYaml('a')}---\n${clientYaml('b', '  name: B\n')}`);
    await list();
    const generations = reader.index.contents('default').objects.map(({ name, generation }) => [name, generation]);
    expect(Object.fromEntries(generations)).to.deep.equal({ a: 1, b: 2 });
  });

  it('notices a change that leaves the time of the file as it was', async () => {
    const time = new Date(Date.now() - 60_000);
    folder.write('a.yaml', clientYaml('a', '  name: One\n'));
    utimesSync(folder.path('a.yaml'), time, time);
    await list();
    folder.save('a.yaml', clientYaml('a', '  name: Two\n'));
    utimesSync(folder.path('a.yaml'), time, time);
    expect(await list()).to.deep.equal(['default']);
  });

  it('lets go of an object only when two listings a moment apart miss it', async () => {
    folder.write('a.yaml', clientYaml('a'));
    await list();
    folder.remove('a.yaml');
    expect(await list()).to.deep.equal([]);
    expect(await list()).to.deep.equal([]);
    expect(names()).to.have.length(1);
    aMomentLater();
    expect(await list()).to.deep.equal(['default']);
    expect(names()).to.deep.equal([]);
  });

  it('does not miss an object whose file is unlinked and comes back, as editors save', async () => {
    folder.write('a.yaml', clientYaml('a'));
    await list();
    folder.remove('a.yaml');
    await list();
    folder.write('a.yaml', clientYaml('a'));
    aMomentLater();
    expect(await list()).to.deep.equal([]);
    expect(names()).to.deep.equal(['a@a.yaml:1']);
  });

  it('does not miss an object whose file is emptied and written again', async () => {
    folder.write('a.yaml', clientYaml('a'));
    await list();
    folder.write('a.yaml', '');
    await list();
    expect(names()).to.have.length(1);
    folder.write('a.yaml', clientYaml('a'));
    aMomentLater();
    await list();
    expect(names()).to.have.length(1);
  });

  it('follows a file that is renamed', async () => {
    folder.write('a.yaml', clientYaml('a'));
    await list();
    folder.rename('a.yaml', 'sub-b.yaml');
    await list();
    aMomentLater();
    await list();
    expect(names()).to.deep.equal(['a@sub-b.yaml:1']);
  });

  it('keeps what a file declared while it cannot be read, and lets go of nothing in the folder', async () => {
    folder.write('a.yaml', clientYaml('a'));
    folder.write('b.yaml', clientYaml('b'));
    await list();
    folder.save('a.yaml', `${clientYaml('a')}  name: [\n`);
    folder.remove('b.yaml');
    await list();
    aMomentLater();
    await list();
    expect(names()).to.deep.equal(['a@a.yaml:1', 'b@b.yaml:1']);
    expect(reader.isComplete).to.equal(false);
    expect(problems()).to.have.length(1);
    expect(problems()[0]).to.match(/^a\.yaml:8: cannot be read: /);
    folder.save('a.yaml', clientYaml('a'));
    await list();
    expect(names()).to.deep.equal(['a@a.yaml:1']);
    expect(problems()).to.deep.equal([]);
  });

  it('says of bytes that are no UTF-8 that they are no text', async () => {
    folder.write('x.yaml', '');
    writeFileSync(folder.path('x.yaml'), Buffer.from([0x61, 0x3a, 0xff]));
    await list();
    expect(problems()).to.deep.equal(['x.yaml:0: cannot be read: it is not UTF-8 text']);
  });

  it('is not misled by a folder with the name of a file', async () => {
    folder.write('x.yaml/a.yaml', clientYaml('a'));
    await list();
    expect(names()).to.deep.equal(['a@x.yaml/a.yaml:1']);
    expect(problems()).to.deep.equal([]);
  });

  it('says which link leads in a circle instead of somewhere, and takes nothing for gone meanwhile', async () => {
    symlinkSync(folder.path('one.yaml'), folder.path('two.yaml'));
    symlinkSync(folder.path('two.yaml'), folder.path('one.yaml'));
    await list();
    expect(problems()).to.have.members([
      'one.yaml:0: cannot be listed: its symbolic links go in a circle',
      'two.yaml:0: cannot be listed: its symbolic links go in a circle',
    ]);
    expect(reader.isComplete).to.equal(false);
  });

  it('counts the first of two places that declare one object, in the order of files, and names the other', async () => {
    folder.write('b.yaml', clientYaml('a', '  name: B\n'));
    await list();
    folder.write('a.yaml', clientYaml('a', '  name: A\n'));
    expect(await list()).to.deep.equal(['default']);
    expect(names()).to.deep.equal(['a@a.yaml:1']);
    expect(problems()).to.deep.equal(['b.yaml:1: Client default/a is declared in a.yaml:1 too; that one counts']);
    expect(reader.isComplete).to.equal(true);
    folder.remove('a.yaml');
    expect(await list()).to.deep.equal(['default']);
    expect(names()).to.deep.equal(['a@b.yaml:1']);
  });

  it('knows the Secrets of a box by name', async () => {
    folder.write('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {a: b}\n');
    expect(await list()).to.deep.equal(['shop']);
    expect(reader.index.contents('shop').secrets.get('s')?.entries.get('a')?.reveal()).to.equal('b');
    expect(reader.index.boxes()).to.deep.equal([]);
    folder.save('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {a: c}\n');
    expect(await list()).to.deep.equal(['shop']);
    expect(reader.index.contents('shop').secrets.get('s')?.entries.get('a')?.reveal()).to.equal('c');
  });

  it('never takes a folder that cannot be listed for an empty one', async () => {
    folder.write('a.yaml', clientYaml('a'));
    await list();
    folder.remove();
    const error: unknown = await reader.listAll().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    aMomentLater();
    await reader.listAll().catch(() => undefined);
    expect(names()).to.have.length(1);
  });

  it('tells how far a long reading is', async () => {
    for (let nth = 0; nth < 600; nth += 1) folder.write(`${String(nth)}.yaml`, clientYaml(`c${String(nth)}`));
    await list();
    expect(progress.at(-1)).to.equal(600);
    expect(names()).to.have.length(600);
  });
});

import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { DevError } from '../../../dev/options.ts';
import { takeLock, processStart } from '../../../dev/processes/instance-lock.ts';
import { openStateFolder } from '../../../dev/processes/state-folder.ts';
import { temporaryFolder, type TemporaryFolder } from '../temporary-folder.ts';

describe('openStateFolder', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const state = () => folder.path('deep/state');
  const refusal = () => {
    try {
      openStateFolder(state()).release();
    } catch (error) {
      if (error instanceof DevError) return error.message;
      throw error;
    }
    return 'none';
  };

  it('makes the folder with keys that are there again the next time', () => {
    const first = openStateFolder(state());
    first.release();
    const second = openStateFolder(state());
    second.release();
    for (const name of ['postgresPassword', 'apiPassword', 'encryptionKey', 'digestKey'] as const) {
      expect(second.keys[name].reveal()).to.equal(first.keys[name].reveal());
    }
    expect(Buffer.from(first.keys.encryptionKey.reveal(), 'base64')).to.have.length(32);
    expect(JSON.stringify(first.keys)).to.not.contain(first.keys.digestKey.reveal());
  });

  it('lets nobody else read keys and secrets, and keeps them out of commits', () => {
    openStateFolder(state()).release();
    expect(statSync(folder.path('deep/state/keys.json')).mode & 0o777).to.equal(0o600);
    expect(statSync(folder.path('deep/state/secrets')).mode & 0o777).to.equal(0o700);
    expect(statSync(state()).mode & 0o066).to.equal(0);
    expect(readFileSync(folder.path('deep/state/.gitignore'), 'utf8')).to.equal('*\n');
  });

  it('leaves a folder of other files as it is', () => {
    folder.write('deep/state/.gitignore', 'dist\n');
    folder.write('deep/state/package.json', '{}');
    const before = statSync(state()).mode;
    expect(refusal()).to.contain('holds other files');
    expect(statSync(state()).mode).to.equal(before);
    expect(readFileSync(folder.path('deep/state/.gitignore'), 'utf8')).to.equal('dist\n');
  });

  it('refuses a second instance in one sentence that names the first', () => {
    const first = openStateFolder(state());
    expect(refusal()).to.equal(`Another boxgate dev (process ${String(process.pid)}) uses the state folder ${state()}`);
    first.release();
    expect(refusal()).to.equal('none');
  });

  const broken: [title: string, break_: () => void, sentence: RegExp][] = [
    [
      'a file in its place',
      () => folder.write('deep/state', 'x'),
      /^The state folder .* cannot be used: it is not a folder$/,
    ],
    [
      'a file in the place of the folder above it',
      () => folder.write('deep', 'x'),
      /^The state folder .* cannot be used: it is not a folder$/,
    ],
    [
      'a folder of other files',
      () => folder.write('deep/state/package.json', '{}'),
      /^The state folder .* holds other files, such as package\.json: name a new folder with --state <dir>$/,
    ],
    [
      'keys that are no JSON',
      () => folder.write('deep/state/keys.json', '{'),
      /keys.json is damaged; restore it, or remove the state folder/,
    ],
    [
      'keys of which one is missing',
      () => folder.write('deep/state/keys.json', '{"apiPassword":"canary"}'),
      /keys.json is damaged/,
    ],
    [
      'a folder in the place of its keys',
      () => folder.write('deep/state/keys.json/x', ''),
      /cannot be used: it is a folder$/,
    ],
  ];
  for (const [title, break_, sentence] of broken) {
    it(`refuses ${title} in one sentence, and does not hold it`, () => {
      break_();
      expect(refusal()).to.match(sentence);
      expect(refusal()).to.not.match(/canary|\n/);
      expect(existsSync(folder.path('deep/state/lock'))).to.equal(false);
    });
  }
});

describe('takeLock', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const lock = () => folder.path('lock');

  it('is held until it is released', () => {
    const taken = takeLock(lock());
    expect(taken).to.include({ isTakenOver: false });
    expect(takeLock(lock())).to.deep.equal({ heldBy: process.pid });
    if ('release' in taken) taken.release();
    expect(takeLock(lock())).to.include({ isTakenOver: false });
  });

  const stale: [title: string, holder: () => string][] = [
    ['a process that is gone', () => JSON.stringify({ pid: gonePid(), start: 'then' })],
    ['a process whose number another one has now', () => JSON.stringify({ pid: process.pid, start: 'long ago' })],
    ['nobody knows whom', () => 'x'],
    ['nobody at all', () => ''],
  ];
  for (const [title, holder] of stale) {
    it(`is taken over from ${title}`, () => {
      folder.write('lock', holder());
      expect(takeLock(lock())).to.include({ isTakenOver: true });
      expect(JSON.parse(readFileSync(lock(), 'utf8'))).to.include({ pid: process.pid });
    });
  }

  it('is taken by exactly one of many that find it stale', async () => {
    folder.write('lock', JSON.stringify({ pid: gonePid(), start: 'then' }));
    const module = new URL('../../../dev/processes/instance-lock.ts', import.meta.url).href;
    const program = `const { takeLock } = await import('${module}'); console.log('release' in takeLock(process.argv[1]) ? 'taken' : 'refused'); process.stdin.resume();`;
    const racers = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program, lock()], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const said = await Promise.all(racers.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    for (const racer of racers) racer.kill('SIGKILL');
    expect(said.sort()).to.deep.equal(['refused', 'refused', 'refused', 'refused', 'refused', 'taken']);
  });

  it('does not release what another has taken meanwhile', () => {
    const taken = takeLock(lock());
    folder.write('lock', '{"pid":1,"start":"x"}');
    if ('release' in taken) taken.release();
    expect(existsSync(lock())).to.equal(true);
  });

  function gonePid(): number {
    return spawnSync(process.execPath, ['--version']).pid;
  }
});

describe('processStart', () => {
  it('tells processes of one number apart, and knows when there is none', () => {
    expect(processStart(process.pid)).to.equal(processStart(process.pid));
    const later = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    expect(processStart(later.pid ?? 0))
      .to.be.a('string')
      .and.not.equal(processStart(process.pid));
    later.kill('SIGKILL');
    expect(processStart(spawnSync(process.execPath, ['--version']).pid)).to.equal(undefined);
  });
});

import { isObject, parseJson } from '../../crds/path.ts';
import { expect } from 'chai';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { shellBlocks } from '../operator/shell-page.ts';
import { writeCurlStandIn } from './curl-stand-in.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';
import { writtenCommands } from './written-commands.ts';
import type { SessionReport } from './written-session.ts';

/** Commands that no test runs as they are written, and why. This list may only get shorter. */
const notRun: readonly (readonly [page: string, command: string, why: string])[] = [
  ['README.md', './boxgate dev <folder>', 'the reader fills in the folder; `./boxgate dev shop` is run'],
  ['README.md', 'make test', 'it runs this test'],
  ['docs/guides/database.md', "CREATE ROLE boxgate_api LOGIN PASSWORD '…';", 'the reader fills in the password'],
  ['docs/guides/database.md', 'BOXGATE_OWNER_URL=postgres://owner:…@db/', 'the reader fills in the passwords'],
  ['docs/maintainers/performance.md', 'make bench', 'it takes a quarter of an hour'],
  ['docs/maintainers/performance.md', 'npm run bench -- hot-lane', 'it measures for minutes'],
  ['docs/maintainers/reliability.md', 'make test', 'it runs this test'],
  ['docs/maintainers/reliability.md', 'make faults', 'it takes two hours'],
  ['docs/maintainers/reliability.md', 'make hour', 'it takes ten minutes or more'],
  ['docs/guides/tenancy.md', 'kubectl annotate namespace shop boxgate.dev/adopt-uid', 'the reader fills in the uid'],
  ['docs/guides/tenancy.md', 'kubectl annotate namespace shop boxgate.dev/discard-uid', 'the reader fills in the uid'],
  [
    'docs/guides/tenancy.md',
    'kubectl annotate --overwrite namespace shop boxgate.dev/quota',
    'it needs a cluster with the namespace shop',
  ],
  [
    'docs/guides/tenancy.md',
    'kubectl annotate --overwrite namespace shop boxgate.dev/hosts',
    'it needs a cluster with the namespace shop',
  ],
  [
    'docs/guides/tenancy.md',
    'kubectl annotate --overwrite namespace shop boxgate.dev/secret-metadata',
    'it needs a cluster with the namespace shop',
  ],
];
const mostNotRun = 14;

/** Commands that another test runs, and its file with the line that does. */
const runBy: readonly (readonly [page: string, start: string, file: string, line: string])[] = [
  ['README.md', 'docker compose up ', 'test/image/compose.test.ts', "startBoxgate([...words(service, 'command')"],
  ['README.md', 'docker compose cp ', 'test/image/compose.test.ts', "'docker compose cp boxgate:'"],
  ['README.md', 'curl http://', 'test/image/compose.test.ts', "'curl http://'"],
  ['docs/guides/refused.md', './boxctl why ', 'test/http/refused-requests.test.ts', "boxctl.run(['why', id])"],
  ['docs/reference/refusals.md', './boxctl why ', 'test/http/refused-requests.test.ts', "boxctl.run(['why', id])"],
  [
    'docs/guides/refused.md',
    './boxctl audit ',
    'test/http/refused-requests.test.ts',
    "'audit --result refused --limit 20'",
  ],
  [
    'docs/guides/scale.md',
    './boxctl box move ',
    'test/e2e/stories/11-databases.test.ts',
    "'./boxctl', ['box', 'move', moved, database]",
  ],
  ['charts/boxgate/README.md', 'helm test boxgate ', 'test/e2e/stories/01-install.test.ts', "['test', release, "],
  ...['python3', 'go run', 'java'].map(
    (start) =>
      [
        'docs/guides/get-a-token.md',
        `${start} examples/`,
        'test/peers/get-a-token.test.ts',
        '`exec ${command}`',
      ] as const,
  ),
  ...['python3', 'go'].map(
    (start) =>
      [
        'docs/guides/protect-your-api.md',
        `${start} `,
        'test/peers/protect-your-api.test.ts',
        'one.startsWith(`${language} `)',
      ] as const,
  ),
];

/** Pages whose blocks of commands a test of their own runs, each where its programs are. */
const runElsewhere: ReadonlyMap<string, string> = new Map([
  ['docs/guides/kubernetes.md', 'test/operator/kubernetes-page.test.ts'],
  ['docs/guides/kubernetes-sign-in.md', 'test/peers/kube-apiserver.test.ts'],
  ['docs/guides/gateways.md', 'test/peers/oauth2-proxy.test.ts'],
  ['docs/reference/boxctl.md', 'test/cli/page.test.ts'],
  ['docs/reference/plan.md', 'test/cli/plan-page.test.ts'],
  ['docs/guides/tour.md', 'test/dev/tour.test.ts'],
  ['docs/guides/web-and-api.md', 'test/dev/web-and-api.test.ts'],
  ...['guides/production.md', 'guides/keys.md', 'guides/upgrade.md', 'guides/uninstall.md', 'reference/alerts.md'].map(
    (page) => [`docs/${page}`, 'test/operator/production-page.test.ts'] as const,
  ),
]);

function blocksOf(page: string): ReadonlySet<string> {
  return new Set(shellBlocks(readFileSync(page, 'utf8')).map(({ commands }) => commands.trimEnd()));
}

const pages = [
  'README.md',
  'charts/boxgate/README.md',
  ...['guides', 'reference', 'maintainers'].flatMap((folder) => pagesIn(`docs/${folder}`)),
];
const written = pages.flatMap((page) =>
  writtenCommands(readFileSync(page, 'utf8')).map((command) => [page, command] as const),
);

/** The pages below a folder; the decisions are no instructions. */
function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

/** A clone of this repository as it is now, with what is not committed yet. */
function freshClone(into: string): void {
  execFileSync('git', ['clone', '--quiet', '.', into], { stdio: 'pipe' });
  const files = (...options: readonly string[]): readonly string[] =>
    execFileSync('git', ['ls-files', '-z', ...options], { encoding: 'utf8' })
      .split('\0')
      .filter((file) => file !== '');
  const deleted = new Set(files('--deleted'));
  for (const file of deleted) rmSync(path.join(into, file), { force: true });
  for (const file of files('--modified', '--others', '--exclude-standard')) {
    // A link to the packages of another checkout is none of the clone's.
    if (deleted.has(file) || !statSync(file).isFile()) continue;
    mkdirSync(path.dirname(path.join(into, file)), { recursive: true });
    copyFileSync(file, path.join(into, file));
  }
  // The packages are installed for this very list: make must not install them again.
  utimesSync(path.join(into, 'package-lock.json'), 0, 0);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Command for a network namespace in which every port is free; an ordinary user needs a user namespace for it. */
const apart = isRoot() ? ['unshare', '-nm'] : ['unshare', '--map-current-user', '-nm', '--keep-caps'];

/** Checks whether this machine permits a network namespace. */
function hasOwnNetwork(): boolean {
  const [program, ...options] = apart;
  return program !== undefined && spawnSync(program, [...options, 'ip', 'link', 'set', 'lo', 'up']).status === 0;
}

/** Returns the command line before the session: its own network and packages, and its user. */
function prefixOf(clone: string, home: string, user: string | undefined): readonly string[] {
  const as = user === undefined ? [] : ['runuser', '-u', user, '--', 'env', `HOME=${home}`];
  if (!hasOwnNetwork()) {
    const [packages, own] = [path.resolve('node_modules'), path.join(clone, 'node_modules')];
    // Another user may have no way into the home that this checkout is in.
    if (user === undefined) symlinkSync(packages, own);
    else execFileSync('cp', ['-a', packages, own]);
    return as;
  }
  mkdirSync(path.join(clone, 'node_modules'));
  // Nobody may look into the folder of the packages from outside, and nothing may change them.
  const script = 'ip link set lo up; mount --bind -o ro "$0" "$1"; shift; exec "$@"';
  const inside = ['sh', '-euc', script, path.resolve('node_modules'), path.join(clone, 'node_modules')];
  // What it takes to set up a network must not let an ordinary user into closed files.
  const plain = isRoot() ? [] : ['setpriv', '--ambient-caps=-all', '--inh-caps=-all', '--'];
  return [...apart, ...inside, ...plain, ...as];
}

/** Settings without those of npm and of the tests: a newcomer has none of them. */
function newcomersEnvironment(home: string, bin: string): Readonly<Record<string, string>> {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return { PATH: [...folders, bin].join(':'), HOME: home, LANG: process.env['LANG'] ?? 'C.UTF-8' };
}

/** Runs the session in a clone of its own, as another user where one is named. */
async function session(folder: TemporaryFolder, user?: string): Promise<SessionReport> {
  const clone = folder.path('clone');
  freshClone(clone);
  for (const name of ['home', 'bin']) mkdirSync(folder.path(name));
  // Another user may have no way to the Node.js of this process.
  writeCurlStandIn(folder.path('bin', 'curl'), path.join(clone, 'node_modules/node/bin/node'));
  const [program, ...args] = [
    ...prefixOf(clone, folder.path('home'), user),
    'node_modules/node/bin/node',
    'test/dev/written-session.ts',
  ];
  if (user !== undefined) execFileSync('chown', ['-R', user, folder.root]);
  const child = spawn(program, args, {
    cwd: clone,
    env: newcomersEnvironment(folder.path('home'), folder.path('bin')),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, said] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  const report = parseJson(printed);
  if (isReport(report)) return report;
  throw new Error(`the session did not end well:\n${printed}${said}`);
}

function isReport(value: unknown): value is SessionReport {
  return isObject(value) && Array.isArray(value['ran']) && Array.isArray(value['failures']);
}

describe('R-31 the commands of README, the pages and the hints of boxgate dev', () => {
  const folders: TemporaryFolder[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) folder.remove();
  });
  function folder(): TemporaryFolder {
    const made = temporaryFolder();
    folders.push(made);
    return made;
  }

  it('run as they are written in a fresh clone, by an ordinary user', async () => {
    const { ran, failures } = await session(folder(), isRoot() ? 'nobody' : undefined);
    expect(failures).to.deep.equal([]);
    for (const [page, test] of runElsewhere) expect(readFileSync(test, 'utf8')).to.include(path.basename(page));
    const lines = new Set([...blocksOf('docs/guides/kubernetes.md')].flatMap((block) => block.split('\n')));
    const isRun = ([page, command]: (typeof written)[number]): boolean =>
      ran.includes(command) ||
      (runElsewhere.has(page) ? blocksOf(page) : lines).has(command) ||
      runBy.some(([where, start]) => page === where && command.startsWith(start));
    const left = written.filter((one) => !isRun(one)).map(([page, command]) => `${page}: ${command}`);
    const known = notRun.map(([page, command]) => `${page}: ${command}`);
    expect(left.filter((one) => !known.some((start) => one.startsWith(start)))).to.deep.equal([]);
    expect(
      known.filter((start) => !left.some((one) => one.startsWith(start))),
      'is run, or is no more',
    ).to.deep.equal([]);
  });

  /** `make dev` in a checkout that the user cannot write to; what it prints, without make's own line. */
  function makeDev(checkout: TemporaryFolder, prefix: readonly string[]): readonly string[] {
    const clone = checkout.path('clone');
    if (isRoot()) chmodSync(checkout.root, 0o755);
    else execFileSync('chmod', ['-R', 'a-w', clone]);
    const [program, ...args] = [...prefix, 'make', 'dev'];
    const environment = newcomersEnvironment('/nonexistent', checkout.path('bin'));
    const { stdout, stderr } = spawnSync(program, args, { cwd: clone, env: environment, encoding: 'utf8' });
    if (!isRoot()) execFileSync('chmod', ['-R', 'u+w', clone]);
    return `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.startsWith('make: '));
  }
  const other = isRoot() ? 'nobody' : undefined;

  it('R-35: make dev in a checkout of another user says in one sentence that its packages cannot be installed there', () => {
    const checkout = folder();
    freshClone(checkout.path('clone'));
    const owner = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    const clone = checkout.path('clone');
    expect(makeDev(checkout, other === undefined ? [] : ['runuser', '-u', other, '--'])).to.deep.equal([
      `You cannot install the packages here, because ${clone} belongs to ${owner}: run make as that user, or in a copy of your own (cp -r ${clone} <folder>).`,
    ]);
  });

  it('R-35: make dev in a checkout of another user with its packages says in one sentence where the state can be', () => {
    const checkout = folder();
    const clone = checkout.path('clone');
    freshClone(clone);
    staleDocument(clone);
    const prefix = prefixOf(clone, checkout.path('home'), other);
    expect(makeDev(checkout, prefix)).to.deep.equal([
      `boxgate: The state folder ${clone}/examples/standalone/.boxgate cannot be used: permission denied. Name a folder of your own with --state <dir>`,
    ]);
  });

  /** Leaves an OpenAPI document in the checkout that is older than what it is made from; returns its path. */
  function staleDocument(clone: string): string {
    const document = path.join(clone, 'api/http/endpoints/openapi.json');
    writeFileSync(document, '{}');
    utimesSync(document, 0, 0);
    return document;
  }

  it('make install quietly writes the served document anew where what it is made from is newer', () => {
    const checkout = folder();
    const clone = checkout.path('clone');
    freshClone(clone);
    const document = staleDocument(clone);
    const [program, ...args] = [...prefixOf(clone, checkout.path('home'), undefined), 'make', 'install'];
    const env = newcomersEnvironment('/nonexistent', checkout.path('bin'));
    const { stdout, stderr } = spawnSync(program, args, { cwd: clone, env, encoding: 'utf8' });
    expect(`${stdout}${stderr}`).to.equal('');
    expect(readFileSync(document, 'utf8')).to.contain('"openapi": "3.1.');
    const { mtimeMs } = statSync(document);
    spawnSync(program, args, { cwd: clone, env });
    expect(statSync(document).mtimeMs, 'the second time').to.equal(mtimeMs);
  });

  it('the installation goes on to the sentence of make where the npm package node got no Node.js', () => {
    const parsed = parseJson(readFileSync('package.json', 'utf8'));
    const scripts = isObject(parsed) && isObject(parsed['scripts']) ? parsed['scripts'] : {};
    const prepare = ['-c', String(scripts['prepare'])];
    const { status, stdout, stderr } = spawnSync('sh', prepare, { cwd: folder().root, encoding: 'utf8' });
    expect([status, stdout, stderr]).to.deep.equal([0, '', '']);
  });

  it('R-31: the list of what is not run has a reason each and only gets shorter', () => {
    expect(notRun.length).to.be.at.most(mostNotRun);
    expect(notRun.filter(([, , why]) => why === '')).to.deep.equal([]);
  });

  it('R-31: a command that another test runs is on its page, and in that test', () => {
    for (const [page, start, file, line] of runBy) {
      expect(written.some(([where, command]) => where === page && command.startsWith(start))).to.equal(true, start);
      expect(readFileSync(file, 'utf8')).to.include(line);
    }
  });

  it('R-33: the first command about a cluster builds the image of the chart', () => {
    const [first] = shellBlocks(readFileSync('docs/guides/kubernetes.md', 'utf8'));
    expect(first?.commands).to.match(/^make image\n[^]*^helm upgrade --install boxgate charts\/boxgate /m);
    const [, chapter = ''] = readFileSync('README.md', 'utf8').split('## In a cluster\n');
    for (const line of first?.commands.trimEnd().split('\n') ?? []) expect(chapter).to.contain(`\n    ${line}\n`);
  });
});

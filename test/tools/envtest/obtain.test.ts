import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import { envtestCache, findControllerManager, findPrograms } from '../../../tools/envtest/find-programs.ts';
import { obtain } from '../../../tools/envtest/obtain.ts';
import { goModules, isAtLeast, leastVersion } from '../../../tools/envtest/go.ts';
import {
  controllerManager,
  goToolchain,
  platformName,
  programs,
  release,
  serverRelease,
} from '../../../tools/envtest/release.ts';
import type { Downloads } from '../../../tools/envtest/release.ts';
import { portOf } from '../../../program/environment.ts';

const names = programs.map(({ name }) => name);

describe('obtaining the control plane', () => {
  let folder: string;
  let server: Server;
  let url: string;
  let archive: Buffer;
  let serverArchive: Buffer;
  let toolchain: Buffer;
  const asked: string[] = [];
  /** Files of the server, by the beginning or the end of a name. */
  const published = new Map<string, Buffer>();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-obtain-'));
    await fill(path.join(folder, 'controller-tools', 'envtest'), 'archive');
    execFileSync('tar', ['-czf', 'archive.tar.gz', 'controller-tools'], { cwd: folder });
    archive = await readFile(path.join(folder, 'archive.tar.gz'));
    await fill(path.join(folder, 'kubernetes', 'server', 'bin'), 'server', [controllerManager.name, 'kubelet']);
    execFileSync('tar', ['-czf', 'server.tar.gz', 'kubernetes'], { cwd: folder });
    serverArchive = await readFile(path.join(folder, 'server.tar.gz'));
    const root = `golang.org/toolchain@v0.0.1-go1.26.8.${platformName()}`;
    for (const [name, text] of Object.entries({ README: 'x', 'bin/go': goOf('1.26.8'), 'pkg/tool/link': 'x' })) {
      await mkdir(path.dirname(path.join(folder, root, name)), { recursive: true });
      await writeFile(path.join(folder, root, name), text);
    }
    execFileSync('python3', ['-m', 'zipfile', '-c', 'go.zip', 'golang.org'], { cwd: folder });
    toolchain = await readFile(path.join(folder, 'go.zip'));
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const body = published.get((request.url ?? '').replace(/.*\//, '').replace(/-.*|.*(?=\.zip$)/, ''));
      if (body === undefined) response.writeHead(404);
      response.end(body);
    });
    url = await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${String(portOf(server))}`);
      });
    });
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  let nth = 0;
  /** An environment with a cache of its own, and nothing on the PATH but what is given. */
  function environment(onPath: string): Record<string, string> {
    nth += 1;
    return { PATH: onPath, XDG_CACHE_HOME: path.join(folder, `cache${String(nth)}`) };
  }

  async function fill(where: string, text: string, programs: readonly string[] = names): Promise<string> {
    await mkdir(where, { recursive: true });
    for (const name of programs) {
      await writeFile(path.join(where, name), text);
      await chmod(path.join(where, name), 0o755);
    }
    return where;
  }

  const sums = (bytes: Buffer | undefined): ReadonlyMap<string, string> => {
    const sum = bytes === undefined ? 'another' : createHash('sha512').update(bytes).digest('hex');
    return new Map([[platformName(), sum]]);
  };

  /** Publishes the given files on the server, each with its checksum or, if `isTrue` is false, a wrong one. */
  function from(has: { archive?: Buffer; server?: Buffer; toolchain?: Buffer }, isTrue = true): Downloads {
    published.clear();
    asked.length = 0;
    if (has.archive !== undefined) published.set('envtest', has.archive);
    if (has.server !== undefined) published.set('kubernetes', has.server);
    if (has.toolchain !== undefined) published.set('.zip', has.toolchain);
    const known = (bytes: Buffer | undefined): ReadonlyMap<string, string> => sums(isTrue ? bytes : undefined);
    return {
      archive: { url, sums: known(has.archive) },
      server: { version: 'v1.34.7', url, sums: known(has.server) },
      toolchain: { version: '1.26.8', sums: known(has.toolchain) },
    };
  }

  const quiet = (): void => undefined;

  it('says what to run where nothing is found', () => {
    expect(() => findPrograms(environment(folder))).to.throw(
      'etcd, kube-apiserver, kubectl not found on the PATH, nor in the cache of make envtest: run make envtest',
    );
  });

  it('says which folder lacks a program, and fills no folder that somebody named', async () => {
    const assets = await fill(path.join(folder, 'partial'), 'x');
    await rm(path.join(assets, 'etcd'));
    const sentence = `etcd not found in the folder that KUBEBUILDER_ASSETS names (${assets})`;
    expect(() => findPrograms({ KUBEBUILDER_ASSETS: assets })).to.throw(sentence);
    const thrown: unknown = await obtain({ KUBEBUILDER_ASSETS: assets }, quiet).catch((error: unknown) => error);
    expect(thrown).to.be.an('error').with.property('message').that.includes(sentence);
  });

  it('takes KUBEBUILDER_ASSETS before the PATH, and the PATH before the cache', async () => {
    const [assets, onPath] = [await fill(path.join(folder, 'assets'), 'x'), await fill(path.join(folder, 'path'), 'x')];
    const where = environment(onPath);
    await fill(envtestCache(where), 'x');
    expect(findPrograms({ ...where, KUBEBUILDER_ASSETS: assets }).etcd).to.equal(path.join(assets, 'etcd'));
    expect(findPrograms(where).etcd).to.equal(path.join(onPath, 'etcd'));
    expect(findPrograms({ ...where, PATH: '' }).etcd).to.equal(path.join(envtestCache(where), 'etcd'));
  });

  it('finds what another tool has built: the newest of the same minor version', async () => {
    const where = environment('');
    const cache = where['XDG_CACHE_HOME'] ?? '';
    for (const version of ['v1.33.9', 'v1.34.9', 'v1.34.10', 'v1.35.0']) {
      await fill(path.join(cache, 'cluster', version, 'bin'), 'x', [...names, controllerManager.name]);
    }
    const newest = path.join(cache, 'cluster', 'v1.34.10', 'bin');
    const found = await obtain(where, (line) => expect.fail(line), from({}));
    expect(found['kube-apiserver']).to.equal(path.join(newest, 'kube-apiserver'));
    expect(findControllerManager(where)).to.equal(path.join(newest, controllerManager.name));
  });

  /** A PATH with a Go of a version, which leaves its arguments where the program would be. */
  async function withGo(version: string): Promise<string> {
    const bin = path.join(folder, `bin-${version}`);
    await mkdir(bin, { recursive: true });
    await writeFile(path.join(bin, 'go'), goOf(version));
    await chmod(path.join(bin, 'go'), 0o755);
    return bin;
  }

  const failureOf = async (work: Promise<unknown>): Promise<string> => {
    const thrown: unknown = await work.then(
      () => expect.fail('nothing was thrown'),
      (error: unknown) => error,
    );
    return thrown instanceof Error ? thrown.message : 'unknown';
  };

  /** tar must be found, and nothing else. */
  async function withTar(more = ''): Promise<string> {
    const bin = path.join(folder, 'tar-only');
    await mkdir(bin, { recursive: true });
    await rm(path.join(bin, 'tar'), { force: true });
    const tar = execFileSync('/bin/sh', ['-c', 'command -v tar'], { encoding: 'utf8' }).trim();
    await symlink(tar, path.join(bin, 'tar'));
    return [more, bin].filter((one) => one !== '').join(path.delimiter);
  }

  it('R-39: unpacks both archives that have their checksums, once, without Go, and says how long it takes', async () => {
    const where = environment(await withTar());
    const told: string[] = [];
    const source = from({ archive, server: serverArchive });
    expect(await obtain(where, (line) => told.push(line), source)).to.deep.equal(findPrograms(where));
    expect(await readdir(envtestCache(where))).to.have.members([...names, controllerManager.name]);
    expect(await readFile(findControllerManager(where), 'utf8')).to.equal('server');
    expect(told).to.deep.equal([
      'downloading etcd, kube-apiserver, kubectl (100 MB, about a minute)',
      'downloading kube-controller-manager v1.34.7 (400 MB with what comes along, about three minutes)',
    ]);
    expect(asked[1]).to.equal(`/v1.34.7/kubernetes-server-${platformName()}.tar.gz`);
    expect(await obtain(where, (line) => expect.fail(line), source)).to.deep.equal(findPrograms(where));
  });

  it('R-39: builds what cannot be downloaded with the Go on the PATH that is new enough', async () => {
    const where = environment(await withTar(await withGo('1.27.0')));
    const told: string[] = [];
    await obtain(where, (line) => told.push(line), from({ archive }));
    expect(told.join('\n')).to.contain(`/v1.34.7/kubernetes-server-${platformName()}.tar.gz answers 404`);
    expect(told.at(-1)).to.equal(
      'building kube-controller-manager (about 2 minutes on two cores where nothing is cached)',
    );
    expect(asked.some((one) => one.endsWith('.zip'))).to.equal(false);
  });

  it('builds from the pinned modules where the archive is another one', async () => {
    const where = environment(await withTar(await withGo('1.26.8')));
    const told: string[] = [];
    const built = await obtain(where, (line) => told.push(line), from({ archive, server: serverArchive }, false));
    expect(told.join('\n')).to.match(/has the SHA-512 [0-9a-f]{128}, not another/);
    const command = await readFile(built['kube-apiserver'], 'utf8');
    expect(command).to.match(
      /modules\/kubernetes -ldflags -s -w .*gitVersion=v1\.34\.\d+ .* k8s\.io\/kubernetes\/cmd\/kube-apiserver\n$/,
    );
  });

  it('R-39: builds with the certificate authorities of Node.js, for a small Debian has none that Go finds', async () => {
    const bin = await withGo('1.26.8');
    await writeFile(path.join(bin, 'go'), `${goOf('1.26.8')}/bin/cp "$SSL_CERT_FILE" "$2"\n`);
    const where = environment(await withTar(bin));
    const { etcd } = await obtain(where, quiet, from({}));
    expect(await readFile(etcd, 'utf8')).to.equal(getCACertificates('default').join('\n'));
    expect(await readdir(envtestCache(where)), 'nothing but the programs').to.have.members([
      ...names,
      controllerManager.name,
    ]);
    await writeFile(path.join(bin, 'go'), `${goOf('1.26.8')}echo "$SSL_CERT_FILE" >"$2"\n`);
    const named = await obtain({ ...environment(where['PATH'] ?? ''), SSL_CERT_FILE: '/own.pem' }, quiet, from({}));
    expect(await readFile(named.etcd, 'utf8'), 'a file that somebody named').to.equal('/own.pem\n');
  });

  it('R-39: says in one sentence how programs get here that can be neither downloaded nor built', async () => {
    const bin = path.join(folder, 'bin-broken');
    await mkdir(bin);
    await writeFile(path.join(bin, 'go'), '#!/bin/sh\n[ "$1" = version ] || exit 3\necho go version go1.26.8 here\n');
    await chmod(path.join(bin, 'go'), 0o755);
    const where = environment(await withTar(bin));
    const cache = envtestCache(where);
    const platform = platformName();
    expect(await failureOf(obtain(where, quiet, from({ server: serverArchive })))).to.equal(
      'etcd, kube-apiserver, kubectl could be neither downloaded nor built (go build ended with 3): ' +
        `run curl -L ${url}/envtest-v1.34.1/envtest-v1.34.1-${platform}.tar.gz | tar -C ${cache} --strip-components=2 -xz ` +
        'controller-tools/envtest/etcd controller-tools/envtest/kube-apiserver controller-tools/envtest/kubectl',
    );
    const sentence = await failureOf(obtain(where, quiet, from({ archive })));
    expect(sentence).to.match(/^kube-controller-manager could be neither downloaded nor built/);
    // The command of the sentence, with the archive itself in place of its download.
    const [, extract = ''] = /: run curl -L \S+ \| (.*)$/.exec(sentence) ?? [];
    execFileSync('/bin/sh', ['-c', extract], { input: serverArchive });
    expect(await readFile(findControllerManager(where), 'utf8')).to.equal('server');
    expect(await readdir(cache)).to.have.members([...names, controllerManager.name]);
  });

  for (const [what, version] of [
    ['no Go', undefined],
    ['an older Go', '1.19.8'],
  ] as const) {
    it(`R-39: obtains Go from the module proxy on a machine with ${what}, once`, async () => {
      const onPath = version === undefined ? await withTar() : await withTar(await withGo(version));
      const where = { ...environment(onPath), GOPROXY: `${url},direct` };
      const told: string[] = [];
      const built = await obtain(where, (line) => told.push(line), from({ toolchain }));
      expect(told.filter((line) => line.includes('downloading Go'))).to.deep.equal([
        `${version === undefined ? 'Go is not installed' : `Go ${version} is older than ${leastVersion()}`}: downloading Go 1.26.8 from the module proxy (70 MB, about a minute)`,
      ]);
      expect(asked.filter((one) => one.endsWith('.zip'))).to.deep.equal([
        `/golang.org/toolchain/@v/v0.0.1-go1.26.8.${platformName()}.zip`,
      ]);
      expect(await readFile(built.etcd, 'utf8')).to.contain('go.etcd.io/etcd/server/v3');
      expect(await readdir(path.join(envtestCache(where), 'go1.26.8'))).to.have.members(['README', 'bin', 'pkg']);
    });
  }

  it('R-39: says in one sentence how Go is installed where it cannot be obtained, and leaves nothing behind', async () => {
    const where = { ...environment(await withTar()), GOPROXY: url };
    const failure = await failureOf(obtain(where, quiet, from({})));
    expect(failure).to.equal(
      `Go is not installed, and it could not be downloaded (${url}/golang.org/toolchain/@v/v0.0.1-go1.26.8.${platformName()}.zip answers 404): ` +
        `run curl -L https://go.dev/dl/go1.26.8.${platformName()}.tar.gz | sudo tar -C /usr/local -xz && export PATH=$PATH:/usr/local/go/bin`,
    );
    const wrong = await failureOf(obtain(where, quiet, from({ toolchain }, false)));
    expect(wrong).to.contain('has the SHA-512');
    expect(await readdir(envtestCache(where))).to.deep.equal([]);
  });

  it('R-39: tells of no download of Go where nothing names a module proxy', async () => {
    const where = environment(await withTar(await withGo('1.19.8')));
    const told: string[] = [];
    expect(await failureOf(obtain(where, (line) => told.push(line), from({})))).to.match(
      /^Go 1\.19\.8 is older than \S+, and it could not be downloaded \(neither GOPROXY nor a Go on the PATH names a module proxy\): run curl /,
    );
    expect(told.filter((line) => line.includes('downloading Go'))).to.deep.equal([]);
  });

  it('R-39: says which server does not answer', async () => {
    const told: string[] = [];
    const where = { ...environment(await withTar(await withGo('1.26.8'))) };
    const source = from({ archive, server: serverArchive });
    const nowhere = { ...source.archive, url: 'http://127.0.0.1:1' };
    await obtain(where, (line) => told.push(line), { ...source, archive: nowhere });
    expect(told.join('\n')).to.match(
      /not downloaded: http:\/\/127\.0\.0\.1:1\/\S+ (cannot be reached|does not answer)|bad port/,
    );
  });

  it('finds kube-controller-manager elsewhere where the named folder has only what an archive holds', async () => {
    const assets = await fill(path.join(folder, 'published'), 'x');
    const where = { ...environment(await withTar()), KUBEBUILDER_ASSETS: assets };
    expect(() => findControllerManager(where)).to.throw('kube-controller-manager is not found: run make envtest');
    await obtain(where, quiet, from({ server: serverArchive }));
    expect(findControllerManager(where)).to.equal(path.join(envtestCache(where), controllerManager.name));
    await writeFile(path.join(assets, controllerManager.name), '');
    await chmod(path.join(assets, controllerManager.name), 0o755);
    expect(findControllerManager(where)).to.equal(path.join(assets, controllerManager.name));
  });

  it('R-39: compares versions of Go by their numbers', () => {
    const rows = [
      ['1.26.8', '1.26.8', true],
      ['1.26.10', '1.26.8', true],
      ['1.27', '1.26.8', true],
      ['1.26', '1.26.8', false],
      ['1.9.9', '1.26.8', false],
      ['2.0', '1.26.8', true],
    ] as const;
    for (const [one, other, expected] of rows) expect(isAtLeast(one, other), one).to.equal(expected);
    expect(isAtLeast(goToolchain.version, leastVersion()), 'the pinned one can build the modules').to.equal(true);
  });

  it('builds the minor version that it would download', async () => {
    const goMod = await readFile(path.join(goModules, 'kubernetes/go.mod'), 'utf8');
    const built = /^\tk8s\.io\/kubernetes v(\d+\.\d+)/m.exec(goMod)?.[1];
    for (const { version } of [release, serverRelease])
      expect(version).to.match(new RegExp(`^v${String(built).replace('.', '\\.')}\\.`));
  });
});

/** A program that tells a version of Go, and leaves the arguments of a build where its result would be. */
function goOf(version: string): string {
  return [
    '#!/bin/sh',
    `[ "$1" = version ] && echo "go version go${version} here" && exit 0`,
    'args=$*',
    'while [ "$1" != -o ]; do shift; done',
    'echo "$args" >"$2"; /bin/chmod 755 "$2"',
    '',
  ].join('\n');
}

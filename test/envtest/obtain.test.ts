import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { envtestCache, findControllerManager, findPrograms } from './find-programs.ts';
import { obtain } from './obtain.ts';
import { controllerManager, programs, release } from './release.ts';

const names = programs.map(({ name }) => name);

describe('obtaining the control plane', () => {
  let folder: string;
  let server: Server;
  let url: string;
  let archive: Buffer;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-obtain-'));
    await fill(path.join(folder, 'controller-tools', 'envtest'), 'archive');
    execFileSync('tar', ['-czf', 'archive.tar.gz', 'controller-tools'], { cwd: folder });
    archive = await readFile(path.join(folder, 'archive.tar.gz'));
    server = createServer((_request, response) => response.end(archive));
    url = await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? String(address.port) : ''}`);
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

  async function fill(where: string, text: string): Promise<string> {
    await mkdir(where, { recursive: true });
    for (const name of names) {
      await writeFile(path.join(where, name), text);
      await chmod(path.join(where, name), 0o755);
    }
    return where;
  }

  function sums(sum: string): ReadonlyMap<string, string> {
    return new Map([...release.sums.keys()].map((platform) => [platform, sum]));
  }

  const goodSum = (): string => createHash('sha512').update(archive).digest('hex');
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

  /** A PATH whose Go leaves its arguments where the program would be. */
  async function withGo(): Promise<string> {
    const bin = path.join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    const go = '#!/bin/sh\nargs=$*\nwhile [ "$1" != -o ]; do shift; done\necho "$args" >"$2"; /bin/chmod 755 "$2"\n';
    await writeFile(path.join(bin, 'go'), go);
    await chmod(path.join(bin, 'go'), 0o755);
    return bin;
  }

  it('unpacks an archive that has its checksum, once, and builds what no archive holds', async () => {
    const where = environment(await withGo());
    const published = { url, sums: sums(goodSum()) };
    expect(await obtain(where, quiet, published)).to.deep.equal(findPrograms(where));
    expect(await readdir(envtestCache(where))).to.have.members([...names, controllerManager.name]);
    expect(await obtain(where, (line) => expect.fail(line), published)).to.deep.equal(findPrograms(where));
  });

  it('builds from the pinned modules where the archive is another one', async () => {
    const where = environment(await withGo());
    const told: string[] = [];
    const built = await obtain(where, (line) => told.push(line), { url, sums: sums('another') });
    expect(told.join('\n')).to.contain(`has the SHA-512 ${goodSum()}, not another`);
    const command = await readFile(built['kube-apiserver'], 'utf8');
    expect(command).to.match(
      /modules\/kubernetes -ldflags -s -w .*gitVersion=v1\.34\.\d+ .* k8s\.io\/kubernetes\/cmd\/kube-apiserver\n$/,
    );
  });

  it('finds kube-controller-manager elsewhere where the named folder has only what an archive holds', async () => {
    const assets = await fill(path.join(folder, 'published'), 'x');
    const where = { ...environment(await withGo()), KUBEBUILDER_ASSETS: assets };
    expect(() => findControllerManager(where)).to.throw('kube-controller-manager is not found: run make envtest');
    await obtain(where, quiet);
    expect(findControllerManager(where)).to.equal(path.join(envtestCache(where), controllerManager.name));
    await writeFile(path.join(assets, controllerManager.name), '');
    await chmod(path.join(assets, controllerManager.name), 0o755);
    expect(findControllerManager(where)).to.equal(path.join(assets, controllerManager.name));
  });

  it('says that Go is missing where it can do neither', async () => {
    const thrown: unknown = await obtain(environment(''), quiet, { url, sums: new Map() }).catch((e: unknown) => e);
    expect(thrown).to.be.an('error').with.property('message', 'what is missing cannot be built: Go is not installed');
  });

  it('builds the minor version that it would download', async () => {
    const goMod = await readFile(path.join(import.meta.dirname, 'modules/kubernetes/go.mod'), 'utf8');
    const built = /^\tk8s\.io\/kubernetes v(\d+\.\d+)/m.exec(goMod)?.[1];
    expect(release.version).to.match(new RegExp(`^v${String(built).replace('.', '\\.')}\\.`));
  });
});

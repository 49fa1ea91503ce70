import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import path from 'node:path';
import { expect } from 'chai';
import { parseJson } from '../../crds/path.ts';
import { portOf } from '../../program/environment.ts';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const NOTHING_THERE = 'http://127.0.0.1:1';

describe('boxctl in a kube context', () => {
  let api: BoxApi;
  /** Serves the box `other` at its root, as a host of its own does. */
  let ownHost: Server;
  let ownUrl = '';
  let boxctl: Boxctl;
  /** Folder of a program `kubectl`, before all others in the PATH. */
  let folder = '';

  before(async () => {
    api = await startBoxApi();
    ownHost = await startOwnHost(`${api.url}/boxes/other`);
    ownUrl = `http://127.0.0.1:${String(portOf(ownHost))}`;
  });
  after(async () => {
    ownHost.close();
    ownHost.closeAllConnections();
    await api.stop();
  });
  beforeEach(async () => {
    boxctl = await startBoxctl({});
    folder = path.join(boxctl.home, 'bin');
    await mkdir(folder);
    await mkdir(path.join(boxctl.home, '.kube'));
  });
  afterEach(() => boxctl.remove());

  const kubeConfig = (): string => path.join(boxctl.home, '.kube', 'config');

  function setContext(namespace: string | undefined): Promise<void> {
    const context = { cluster: 'here', ...(namespace === undefined ? {} : { namespace }) };
    return writeFile(
      kubeConfig(),
      JSON.stringify({ 'current-context': 'here', contexts: [{ name: 'here', context }] }),
    );
  }

  /** Puts a kubectl on the PATH: a shell script. */
  function setKubectl(script: string): Promise<void> {
    return writeFile(path.join(folder, 'kubectl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** Puts a kubectl on the PATH that finds a Box with its issuer in these namespaces, and nothing else. */
  function setBoxes(issuers: Readonly<Record<string, string>>): Promise<void> {
    const cases = Object.entries(issuers).map(
      ([box, issuer]) =>
        `*"get --ignore-not-found --output=json boxes.boxgate.dev box --namespace ${box}") echo '${JSON.stringify({ status: { issuer } })}';;`,
    );
    return setKubectl(['case "$*" in', ...cases, 'esac'].join('\n'));
  }

  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
    boxctl.run(args, { PATH: `${folder}:${process.env['PATH'] ?? ''}`, ...environment }, input);

  async function signIn(box: string, server: string): Promise<void> {
    const { code, messages } = await run(
      ['login', '--client', 'admin'],
      { BOXCTL_BOX: box, BOXCTL_SERVER: server, KUBECONFIG: '/dev/null' },
      `${adminSecret}\n`,
    );
    expect([code, messages]).to.deep.equal([0, '']);
  }

  async function status(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    const { output, messages } = await run(['box', 'status', '--output', 'json', ...args], environment);
    return output === '' ? messages : parseJson(output);
  }

  async function keptState(): Promise<unknown> {
    return parseJson(await readFile(path.join(boxctl.home, '.config', 'boxctl', 'state.json'), 'utf8'));
  }

  const byClient = ['login', '--client', 'admin'] as const;

  describe('login', () => {
    it('keeps the installation of the Box, which later commands have with --box and BOXCTL_BOX, and elsewhere', async () => {
      await setContext('default');
      await setBoxes({ default: api.base });
      expect((await run(byClient, {}, `${adminSecret}\n`)).output).to.contain('Signed in to the box default');
      expect(await keptState()).to.include({ box: 'default', server: api.url });
      await rm(kubeConfig());
      const ways = [[[], {}] as const, [['--box', 'default'], {}] as const, [[], { BOXCTL_BOX: 'default' }] as const];
      for (const [args, environment] of ways) {
        const { code, messages } = await run(['user', 'list', ...args], environment);
        expect([code, messages], JSON.stringify([args, environment])).to.deep.equal([0, '']);
      }
      await setContext('other');
      expect((await run(['user', 'list', '--box', 'default'])).code).to.equal(0);
      const listed = parseJson((await run(['box', 'list', '--output', 'json'])).output);
      expect(listed).to.deep.equal([{ box: 'default', server: api.url, client: 'admin', chosen: true }]);
    });

    it('keeps the base URL of a box that has a host of its own, and no installation', async () => {
      await setContext('other');
      await setBoxes({ other: ownUrl });
      expect(await run(byClient, {}, `${adminSecret}\n`)).to.deep.equal({
        code: 0,
        output: `Signed in to the box other at ${ownUrl}.\n`,
        messages: '',
      });
      await rm(kubeConfig());
      for (const args of [[], ['--box', 'other']]) {
        const { code, messages } = await run(['user', 'list', ...args]);
        expect([code, messages]).to.deep.equal([0, '']);
      }
      const { code, messages } = await run(['user', 'list', '--box', 'default']);
      expect([code, messages.slice(0, 29)]).to.deep.equal([2, 'boxctl: which installation? G']);
      const row = { box: 'other', server: ownUrl, client: 'admin' };
      const listed = async () => parseJson((await run(['box', 'list', '--output', 'json'])).output);
      expect(await listed()).to.deep.equal([{ ...row, chosen: true }]);
      await run(['box', 'use', 'other', '--server', api.url]);
      expect(await listed()).to.deep.equal([
        { ...row, chosen: false },
        { box: 'other', server: api.url, client: '', chosen: true },
      ]);
    });

    it('to another box forgets the base URL of the box before it', async () => {
      await setContext('other');
      await setBoxes({ other: ownUrl });
      await run(byClient, {}, `${adminSecret}\n`);
      await signIn('default', api.url);
      await rm(kubeConfig());
      expect(await keptState()).not.to.have.property('base');
      expect(await status(['--box', 'other'])).to.include({ server: api.url });
    });
  });

  describe('the installation', () => {
    it('is that of the Box status, however the box was named', async () => {
      await signIn('default', api.url);
      await setBoxes({ default: NOTHING_THERE, other: ownUrl });
      const found = { box: 'other', server: ownUrl, server_from: 'the status of the Box' };
      for (const namespace of ['shop', undefined]) {
        await setContext(namespace);
        expect(await status(['--box', 'other'])).to.include({ ...found, box_from: '--box' });
        expect(await status([], { BOXCTL_BOX: 'other' })).to.include({ ...found, box_from: 'BOXCTL_BOX' });
      }
      await run(['box', 'use', 'other']);
      expect(await status()).to.include({ ...found, box_from: 'boxctl box use' });
      await setContext('other');
      expect(await status()).to.include({ ...found, box_from: 'the namespace of the kube context' });
    });

    it('is that of --server and BOXCTL_SERVER without a look at the cluster', async () => {
      await setContext('default');
      await setKubectl(`touch '${folder}/was-called'`);
      expect(await status(['--server', api.url])).to.include({ server: api.url, server_from: '--server' });
      expect(await status([], { BOXCTL_SERVER: api.url })).to.include({ server_from: 'BOXCTL_SERVER' });
      await expectNoFile(path.join(folder, 'was-called'));
    });

    const absent: readonly (readonly [what: string, script: string])[] = [
      ['has no such Box', 'exit 0'],
      ['cannot be reached', 'echo "Unable to connect to the server" >&2; exit 1'],
      ['has none of our definitions', `echo "error: the server doesn't have a resource type" >&2; exit 1`],
      ['does not answer', 'exec sleep 60'],
    ];
    for (const [what, script] of absent)
      it(`is that of the sign-in when the cluster ${what}, soon and without a message`, async () => {
        await signIn('default', api.url);
        await setContext('shop');
        await setKubectl(script);
        const start = Date.now();
        const { code, messages } = await run(['export', '--box', 'default']);
        expect([code, messages]).to.deep.equal([0, '']);
        expect(Date.now() - start).to.be.lessThan(10_000);
      });

    it('is that of the sign-in when there is no kubectl', async () => {
      await signIn('default', api.url);
      await setContext('shop');
      expect(await status(['--box', 'default'], { PATH: folder })).to.include({ server: api.url });
    });
  });
});

async function startOwnHost(base: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, headers, url = '/' } = request;
    const forwarded = httpRequest(base + url, { method, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function expectNoFile(file: string): Promise<void> {
  expect(await readFile(file, 'utf8').catch(() => 'none')).to.equal('none');
}

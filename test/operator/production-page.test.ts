import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { isList, isObject } from '../../crds/path.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { at } from '../charts/rendered.ts';
import { operatorNamespace } from '../support/operator-process.ts';
import { blocksOf } from '../support/page-block.ts';
import { findService } from './kube/services/found-service.ts';
import { startOperatorRig, type OperatorRig } from './operator-rig.ts';
import { runBlocks, shellBlocks, type ShellBlock } from './shell-page.ts';
import { eventually } from '../support/eventually.ts';

/** The pages about an installation, whose commands run here. */
const pages = [
  'guides/production.md',
  'guides/keys.md',
  'guides/upgrade.md',
  'guides/uninstall.md',
  'reference/alerts.md',
];
const blocks = pages.flatMap((page) => shellBlocks(readFileSync(`docs/${page}`, 'utf8')));

/**
 * Blocks that need pods, Helm or a registry, by their beginning, with the file of test/e2e that runs the same on a real
 * cluster, and its line: the text of the page, or the command with images, values and names of that test.
 */
const onRealCluster: readonly (readonly [start: string, file: string, line: string])[] = [
  ['make publish REGISTRY=', 'stories/08-publish.test.ts', "['publish', `REGISTRY=${registry}`"],
  [
    'helm upgrade --install boxgate charts/boxgate',
    'installation.ts',
    "['upgrade', '--install', release, 'charts/boxg",
  ],
  ['rotation=management step=1\n', 'faults/rotations.test.ts', "blocksOf('guides/keys.md', 'Rotate a key', 'sh')"],
  [
    'kubectl --namespace boxgate-system rollout restart deployment/boxgate-api',
    'faults/rotations.test.ts',
    "blocksOf('guides/keys.md', 'Rotate a key', 'sh')",
  ],
  ['helm upgrade boxgate charts/boxgate', 'faults/rolling.test.ts', 'install(ofNextRelease())'],
  ['helm rollback boxgate', 'faults/rolling.test.ts', "['rollback', release, "],
  ['helm uninstall boxgate', 'stories/09-uninstall.test.ts', "['uninstall', release, "],
];

const blockWith = (text: string): ShellBlock =>
  blocks.find(({ commands }) => commands.includes(text)) ?? expect.fail(`no command contains ${text}`);

const [namespaces, secret] = [blockWith('kubectl create namespace'), blockWith('kubectl create secret')];
const [closing, opening] = [blockWith('"pending"'), blockWith('"boxgate.dev/restore":null')];
const revoking = blockWith('revoke_sessions_before');
const listing = blockWith('groups.boxgate.dev --all-namespaces\n');
const removing = blockWith('kubectl delete services');

describe('the pages about an installation', () => {
  let rig: OperatorRig;
  let folder: string;
  let run: (block: ShellBlock) => Promise<string>;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-production-'));
    symlinkSync(findPrograms().kubectl, path.join(folder, 'kubectl'));
    rig = await startOperatorRig();
    await rig.operator();
    const environment = {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      KUBECONFIG: rig.plane.kubeconfig,
      HOME: folder,
    };
    run = async (block) => (await runBlocks([block], environment))[0] ?? '';
  });
  after(async () => {
    await rig.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('have no command but those that run here and those that need a real cluster', () => {
    const here = new Set([namespaces, secret, closing, opening, revoking, listing, removing]);
    const others = blocks.filter((block) => !here.has(block)).map(({ commands }) => commands);
    expect(others.map((commands) => onRealCluster.find(([start]) => commands.startsWith(start)))).to.deep.equal(
      onRealCluster,
    );
    for (const [, file, line] of onRealCluster) expect(readFileSync(`test/e2e/${file}`, 'utf8')).to.contain(line);
  });

  it('create the namespaces of its values, also if one is there, and the Secret of the role that it declares', async () => {
    await run(namespaces);
    await run(secret);
    const values: unknown = parse(blocksOf('guides/production.md', 'Chart', 'yaml')[0] ?? '');
    const cluster: unknown = parse(blocksOf('guides/production.md', 'Postgres', 'yaml')[0] ?? '');
    const boxes = at(values, 'rbac', 'boxes', 'namespaces');
    expect(boxes).to.have.length(2);
    for (const name of isList(boxes) ? boxes : []) {
      expect((await rig.plane.call({ path: `/api/v1/namespaces/${String(name)}` })).status, String(name)).to.equal(200);
    }
    const name = String(at(values, 'database', 'api', 'secretName'));
    const role = at(cluster, 'spec', 'managed', 'roles', 0);
    expect(name).to.equal(at(role, 'passwordSecret', 'name'));
    expect(at(values, 'database', 'owner', 'secretName')).to.equal(`${String(at(cluster, 'metadata', 'name'))}-app`);
    const { body } = await rig.plane.call({ path: `/api/v1/namespaces/${operatorNamespace}/secrets/${name}` });
    const text = (key: string): string => Buffer.from(String(at(body, 'data', key)), 'base64').toString();
    const url = new URL(text(String(at(values, 'database', 'api', 'key'))));
    expect(at(body, 'type')).to.equal('kubernetes.io/basic-auth');
    expect([url.username, url.username]).to.deep.equal([at(role, 'name'), text('username')]);
    expect([url.password, url.password.length]).to.deep.equal([text('password'), 48]);
    expect(url.pathname.slice(1)).to.equal(at(cluster, 'spec', 'bootstrap', 'initdb', 'database'));
    expect(url.hostname).to.equal(`${String(at(cluster, 'metadata', 'name'))}-rw`);
  });

  it('close the public port, and open it again', async () => {
    const services = `/api/v1/namespaces/${operatorNamespace}/services`;
    const selector = { 'app.kubernetes.io/component': 'api' };
    const body = { metadata: { name: 'boxgate-api' }, spec: { selector, ports: [{ port: 80 }] } };
    await rig.plane.call({ method: 'POST', path: services, body });
    const now = async (): Promise<unknown> => {
      const answer = await rig.plane.call({ path: `${services}/boxgate-api` });
      return isObject(answer.body) && isObject(answer.body['spec']) ? answer.body['spec']['selector'] : undefined;
    };
    await run(closing);
    expect(await now()).to.deep.equal({ ...selector, 'boxgate.dev/restore': 'pending' });
    await run(opening);
    expect(await now()).to.deep.equal(selector);
  });

  it('revoke what began before now in every box, also where there was no Box, and nothing that begins later', async () => {
    // E-30: the drill took the laptop's clock. Here it is wrong by years, and sessions would stay valid.
    writeFileSync(path.join(folder, 'date'), '#!/bin/sh\necho 2001-02-03T04:05:06Z\n', { mode: 0o755 });
    const secret = 'a-secret-of-this-page';
    const machine = { grant_types: ['client_credentials'], secret };
    const [first, second] = [await rig.box(), await rig.box()];
    await rig.put('Box', first, 'box', {});
    for (const box of [first, second]) {
      await rig.put('Client', box, 'app', machine);
      await rig.put('AccessPolicy', box, 'policy', { engine: 'allow', subjects: 'authenticated' });
      await rig.ready('Client', box, 'app');
      await rig.ready('AccessPolicy', box, 'policy');
    }
    const tokenOf = async (box: string): Promise<string> => {
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'app', client_secret: secret });
      const answer: unknown = await (
        await fetch(`${rig.api.url}/boxes/${box}/auth/token`, { method: 'POST', body })
      ).json();
      return isObject(answer) ? String(answer['access_token']) : '';
    };
    const statusOf = async (box: string, token: string): Promise<number> =>
      (await fetch(`${rig.api.url}/boxes/${box}/Session`, { headers: { Authorization: `Bearer ${token}` } })).status;
    const before = [await tokenOf(first), await tokenOf(second)] as const;
    expect(await statusOf(first, before[0])).to.equal(200);
    // The command names whole seconds: these tokens must be of an earlier one.
    const began = Math.floor(Date.now() / 1000);
    await eventually('the next second', () => Math.floor(Date.now() / 1000) > began);
    await run(revoking);
    for (const [box, token] of [
      [first, before[0]],
      [second, before[1]],
    ] as const) {
      await rig.ready('Box', box, 'box');
      expect(await statusOf(box, token)).to.equal(401);
      expect(await statusOf(box, await tokenOf(box))).to.equal(200);
    }
    expect(await run(listing))
      .to.contain(second)
      .and.to.contain('client.boxgate.dev/app');
  });

  it('remove the Services of boxes, and no other one of that name', async () => {
    const [ours, foreign] = [await rig.box(), await rig.box()];
    const body = { metadata: { name: 'boxgate' }, spec: { ports: [{ port: 80 }] } };
    await rig.plane.call({ method: 'POST', path: `/api/v1/namespaces/${foreign}/services`, body });
    await rig.put('Box', ours, 'box', {});
    await eventually('there is a Service', async () => (await findService(rig.plane, ours)) !== undefined);
    expect(await run(removing)).to.contain('service "boxgate" deleted');
    expect(await findService(rig.plane, foreign)).not.to.equal(undefined);
  });
});

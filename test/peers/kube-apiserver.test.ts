import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { isObject } from '../../crds/path.ts';
import { startControlPlane, type ControlPlane } from '../support/cluster/control-plane.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { eventually } from '../support/eventually.ts';
import { isAsPrinted, runBlocks, shellBlocks } from '../operator/shell-page.ts';
import { blocksOf, clientOf, replaced } from '../support/page-block.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { joinGroups } from './membership.ts';
import { newVisitor } from './visitor.ts';

const page = 'guides/kubernetes-sign-in.md';
const issuerOnPage = 'https://auth.example.com/boxes/staff';
/** Commands that add Boxgate to a kubeconfig, and the one that asks who somebody is. */
const [asking, ...settingUp] = shellBlocks(readFileSync(`docs/${page}`, 'utf8')).toReversed();

interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly said: string;
}

describe(`docs/${page}, with a real kube-apiserver and kubectl`, () => {
  let box: HttpsBox;
  let plane: ControlPlane | undefined;
  let folder: string;
  let environment: Readonly<Record<string, string | undefined>>;

  withHttpsBox((started) => (box = started));
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-kubectl-'));
    const at = (name: string): string => path.join(folder, name);
    writeFileSync(at('ca.crt'), box.ca);
    symlinkSync(findPrograms().kubectl, at('kubectl'));
    const [client = ''] = blocksOf(page, 'The Client', 'yaml');
    await box.api.declare('default', [clientOf(client)]);
    await joinGroups(box, ['viewers']);
    const [flags = ''] = blocksOf(page, 'kube-apiserver', 'text');
    const here = { [issuerOnPage]: box.issuer, '/etc/kubernetes/pki/boxgate-ca.crt': at('ca.crt') };
    plane = await startControlPlane(replaced(flags, here).trim().split('\n'));
    // It gives the ClusterRole `view` its rules.
    plane.startControllers(['clusterrole-aggregation-controller']);
    copyFileSync(plane.kubeconfig, at('kubeconfig'));
    environment = {
      PATH: `${folder}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      KUBECONFIG: at('kubeconfig'),
    };
    const [binding = ''] = blocksOf(page, 'RBAC', 'yaml');
    writeFileSync(at('binding.yaml'), binding);
    expect(await kubectl(['apply', '-f', at('binding.yaml')])).to.include({ code: 0 });
    const commands = replaced(
      settingUp
        .toReversed()
        .map((block) => block.commands)
        .join(''),
      {
        [issuerOnPage]: box.issuer,
        '/usr/local/lib/boxgate-login.mjs': path.resolve('examples/kubectl/boxgate-login.mjs'),
        '/etc/ssl/boxgate-ca.crt': at('ca.crt'),
      },
    );
    await runBlocks([{ commands, printed: undefined }], environment);
  });
  after(async () => {
    await plane?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs kubectl. When its plugin asks to sign in, `onPrompt` answers, otherwise a browser whose person declines. */
  async function kubectl(args: readonly string[], onPrompt?: (address: URL) => Promise<unknown>): Promise<Ran> {
    const child = spawn(findPrograms().kubectl, [...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const printed = text(child.stdout);
    let said = '';
    // kubectl may run its plugin more than once: each of them waits for an answer of its own.
    const prompted = new Map<string, Promise<unknown>>();
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said += part;
      for (const [, address = ''] of said.matchAll(/To sign in, open (\S+)\n/g)) {
        if (prompted.has(address)) continue;
        const url = new URL(address);
        prompted.set(address, onPrompt?.(url) ?? fetch(denial(url)));
      }
    });
    const code = await ended;
    await Promise.all(prompted.values());
    return { code, printed: await printed, said };
  }

  /** Returns the address by which a browser tells a program that the person did not agree. */
  function denial(address: URL): string {
    const { searchParams: asked } = address;
    const answer = new URLSearchParams({ error: 'access_denied', state: asked.get('state') ?? '' });
    return `${asked.get('redirect_uri') ?? ''}?${answer.toString()}`;
  }

  const whoami = async (onPrompt?: (address: URL) => Promise<unknown>): Promise<unknown> => {
    const { code, printed, said } = await kubectl(['auth', 'whoami', '-o', 'json'], onPrompt);
    expect(code, said).to.equal(0);
    const told: unknown = JSON.parse(printed);
    const status = isObject(told) && isObject(told['status']) ? told['status'] : {};
    return status['userInfo'];
  };

  /** Path of the file in which the plugin keeps its tokens. */
  const tokenFile = (): string => {
    const cache = path.join(folder, '.kube', 'cache', 'boxgate');
    const [name = '', ...others] = readdirSync(cache);
    expect(others).to.deep.equal([]);
    return path.join(cache, name);
  };

  const keptTokens = (): Record<string, unknown> => {
    const tokens: unknown = JSON.parse(readFileSync(tokenFile(), 'utf8'));
    return isObject(tokens) ? tokens : {};
  };

  /** Lets an hour pass for the plugin, as far as the id_token goes: it has none that is fresh. */
  const forgetIdToken = (): void => {
    const { refresh_token } = keptTokens();
    writeFileSync(tokenFile(), JSON.stringify({ refresh_token }));
  };

  it('signs a person in, who is named by the email and the groups', async () => {
    const person = await whoami((address) => newVisitor().visit(address));
    expect(person).to.include({ username: ann.email });
    expect(person).to.have.property('groups').that.has.members(['boxgate:viewers', 'system:authenticated']);
    expect(asking?.commands).to.equal('kubectl auth whoami\n');
    const { code, printed } = await kubectl(['auth', 'whoami']);
    expect(code).to.equal(0);
    expect(isAsPrinted(asking?.printed ?? '', printed), printed).to.equal(true);
  });

  it('grants what the group is bound to, and nothing else', async () => {
    const read = async (): Promise<boolean> => (await kubectl(['get', 'configmaps', '--all-namespaces'])).code === 0;
    await eventually('the group may read', read);
    const refused = await kubectl(['create', 'configmap', 'a']);
    expect([refused.code, refused.said]).to.deep.equal([
      1,
      `error: failed to create configmap: configmaps is forbidden: User "${ann.email}" cannot create resource "configmaps" in API group "" in the namespace "default"\n`,
    ]);
  });

  it('stays signed in across refreshes, also of two commands at once, which bring the groups of that moment', async () => {
    const first = keptTokens()['refresh_token'];
    await joinGroups(box, ['auditors']);
    expect(await whoami(), 'the id_token is still fresh')
      .to.have.property('groups')
      .that.includes('boxgate:viewers');
    forgetIdToken();
    const both = await Promise.all([whoami(), whoami()]);
    forgetIdToken();
    for (const person of [...both, await whoami()])
      expect(person).to.have.property('groups').that.has.members(['boxgate:auditors', 'system:authenticated']);
    expect(keptTokens()['refresh_token']).not.to.be.oneOf([undefined, first]);
  });

  it('accepts an email unless it is said to be unverified', async () => {
    for (const [email_verified, code] of [
      [false, 1],
      [true, 0],
    ] as const) {
      await box.admin('PUT', `/users/${box.user}`, { email_verified });
      forgetIdToken();
      expect(await kubectl(['auth', 'whoami']), String(email_verified)).to.include({ code });
    }
  });

  it('asks the person again when the refresh is refused, and says so where it cannot', async () => {
    forgetIdToken();
    await box.admin('PUT', `/users/${box.user}`, { status: 'inactive' });
    const { code, said } = await kubectl(['auth', 'whoami']);
    expect(code).to.equal(1);
    expect(said).to.include('To sign in, open ').and.to.include('access_denied');
  });
});

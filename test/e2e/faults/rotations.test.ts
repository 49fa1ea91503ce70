import { expect } from 'chai';
import { blocksOf, replaced } from '../../support/page-block.ts';
import { eventually } from '../../support/eventually.ts';
import { system } from '../installation.ts';
import { kubectl, listObjects, nameOf, readObject, textAt, untilReady } from '../kubectl.ts';
import { declare } from '../namespace.ts';
import { runCommand } from '../run-command.ts';
import { report, timed } from '../timed.ts';
import { secretEntries } from '../token.ts';
import { createGround, notReady, type Ground } from './ground.ts';
import { followStatuses } from './statuses.ts';

/** Each rotation, with the keys of the Secret that it changes. */
const rotations = [
  ['management', ['management-keys']],
  ['certificate', ['ca.crt', 'tls.crt', 'tls.key']],
  ['encryption', ['encryption-key']],
  ['digest', ['digest-key']],
] as const;

const [step = '', restart = ''] = blocksOf('guides/keys.md', 'Rotate a key', 'sh');

describe('docs/guides/keys.md: rotation of a key under load', () => {
  let ground: Ground;
  before(async () => {
    ground = await createGround('rotations');
  });
  after(() => ground.remove());

  for (const [rotation, changed] of rotations) {
    it(`fails no request while the ${rotation} is rotated, and what is declared afterwards becomes Ready`, async () => {
      const before = await keys();
      const statuses = followStatuses(ground.namespace);
      await ground.startLoad();
      await timed(`rotation: ${rotation}`, () => rotate(rotation));
      expect(await ground.stopLoad(`load during the rotation of ${rotation}`)).to.deep.equal([]);
      report(
        `statuses that were not Ready at some time during the rotation of ${rotation}`,
        (await statuses.stop()).join(),
      );
      const now = await keys();
      const differing = Object.keys(now).filter((name) => now[name] !== before[name]);
      expect(differing.toSorted()).to.deep.equal(changed);
      await declare(ground.namespace, [
        { kind: 'Client', name: rotation, spec: { grant_types: ['client_credentials'] } },
      ]);
      await untilReady('clients', ground.namespace);
      expect(await notReady(ground.namespace)).to.deep.equal([]);
    });
  }
});

async function keys(): Promise<Readonly<Record<string, string>>> {
  return secretEntries(await readObject({ object: 'secret/boxgate-keys', namespace: system }));
}

/** Takes every step of a rotation, with the commands of the page, and does after each what its log says. */
async function rotate(rotation: string): Promise<void> {
  for (let nth = 1; ; nth += 1) {
    const said = await shell(
      replaced(step, { 'rotation=management step=1': `rotation=${rotation} step=${String(nth)}` }),
    );
    const [, taken, last] = /^step (\d) of (\d): /m.exec(said) ?? [];
    expect(taken, said).to.equal(String(nth));
    const deployments = [...said.matchAll(/deployment\/boxgate-\w+/g)].map(([name]) => name);
    if (deployments.length > 0) await shell(restartOf(deployments));
    else await untilPodsHaveFiles();
    if (taken === last) return;
  }
}

/** Returns the commands of the page that restart Deployments, for some of them. */
function restartOf(deployments: readonly string[]): string {
  const both = 'deployment/boxgate-api deployment/boxgate-operator';
  const lines = replaced(restart, { [both]: deployments.join(' ') }).split('\n');
  return lines.filter((line) => deployments.some((name) => line.includes(name))).join('\n');
}

function shell(commands: string): Promise<string> {
  return runCommand('bash', ['-euo', 'pipefail', '-c', commands], { timeout: 660_000 });
}

/** Files of the keys in the pods of each component. */
const mounted = { api: ['management', 'tls.crt'], operator: ['management', 'ca.crt'] } as const;

/** Waits until the kubelet has brought the changed files of the Secret into every pod. */
async function untilPodsHaveFiles(): Promise<void> {
  const wanted = await keys();
  for (const [component, [folder, file]] of Object.entries(mounted)) {
    const program = `process.stdout.write(require('fs').readFileSync('/etc/boxgate/${folder}/${file}'))`;
    await eventually(
      `every pod of the ${component} has the new ${file}`,
      async () => {
        for (const pod of await podsOf(component)) {
          const found = await kubectl('exec', pod, '--namespace', system, '--', 'node', '-e', program);
          if (found !== wanted[file]) return false;
        }
        return true;
      },
      300_000,
    );
  }
}

async function podsOf(component: string): Promise<readonly string[]> {
  const selector = `app.kubernetes.io/component=${component}`;
  const pods = await listObjects('pods', { namespace: system, selector });
  return pods.filter((pod) => textAt(pod, 'metadata', 'deletionTimestamp') === undefined).map(nameOf);
}

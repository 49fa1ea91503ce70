import type { Environment } from '../../program/environment.ts';
import { runCommand } from '../../program/program.ts';
import { readClusterAccess } from '../config.ts';
import { clusterConfig, createConnection } from '../kube/client/cluster-config.ts';
import { createKubeApi } from '../kube/client/kube-api.ts';
import { readKeysConfig, type KeysConfig, createKeys, rotate } from './commands.ts';
import { rotations } from './rotation.ts';
import { createSecretStore, type SecretStore } from './secret-store.ts';

const usage = `Usage: boxgate keys create               create the Secrets of an installation, once; an existing one is never changed
       boxgate keys rotate <key>        take the next step of a rotation: ${rotations.join(', ')}
       boxgate keys forget encryption   remove the older encryption keys, and with them what only they open
Settings come from the environment; see docs/reference/configuration.md.
`;

/** Runs one command of the installation's keys; resolves with its exit code: 0 done, 1 refused, 2 usage. */
export function main(args: readonly string[], environment: Environment): Promise<number> {
  const commands = new Map([['keys create', () => run(environment, createKeys)]]);
  for (const rotation of rotations) {
    commands.set(`keys rotate ${rotation}`, () =>
      run(environment, (store, config, now) => rotate(store, config, rotation, now)),
    );
  }
  commands.set('keys forget encryption', () =>
    run(environment, (store, config, now) => rotate(store, config, 'forget-encryption', now)),
  );
  return runCommand(args, usage, commands);
}

type Work = (store: SecretStore, config: KeysConfig, now: number) => Promise<readonly string[]>;

async function run(environment: Environment, work: Work): Promise<number> {
  const config = readKeysConfig(environment);
  const access = readClusterAccess(environment);
  const api = createKubeApi(createConnection(() => clusterConfig(access)));
  const labels = { 'app.kubernetes.io/name': 'boxgate', 'app.kubernetes.io/component': 'keys' };
  const store = createSecretStore(api, config.namespace, labels, new AbortController().signal);
  for (const sentence of await work(store, config, Date.now())) process.stdout.write(`${sentence}\n`);
  return 0;
}

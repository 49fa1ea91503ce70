import { expect } from 'chai';
import { startCaller, type Caller } from '../caller/caller.ts';
import { system } from '../installation.ts';
import { kubectl, listObjects, nameOf, readObject } from '../kubectl.ts';
import { idleMemory } from '../memory.ts';
import { createNamespace, declare, deleteNamespace } from '../namespace.ts';
import { median, report } from '../timed.ts';
import { assertionRequest, boxUrl, secretEntries, tokenOf, tokenRequest } from '../token.ts';

const namespace = 'speed';
const box = boxUrl(namespace);
const rounds = 9;

describe('speed on the cluster', () => {
  let caller: Caller;
  before(async () => {
    await createNamespace(namespace);
    await declare(namespace, [{ kind: 'Client', name: 'first', spec: { grant_types: ['client_credentials'] } }]);
    await kubectl('wait', '--for=condition=Ready', 'client/first', '--namespace', namespace, '--timeout', '60s');
    caller = await startCaller({ namespace, name: 'caller', audience: box });
  });
  after(async () => {
    await caller.close();
    await deleteNamespace(namespace);
  });

  it('prints the time from applying a Client until its pod has a token, with the token of its ServiceAccount', async () => {
    const assertion = await caller.read('/account/token');
    const grant_types = ['client_credentials'];
    const service_accounts = [{ namespace, name: 'default' }];
    await measureClients('secretless', { grant_types, service_accounts }, async (name) =>
      tokenOf(caller, assertionRequest(`${box}/auth/token`, name, assertion)),
    );
  });

  it('prints the time from applying a Client until its pod has a token, with the Secret that the operator generates', async () => {
    await measureClients('generated', { grant_types: ['client_credentials'] }, async (name) => {
      const entries = secretEntries(await readObject({ object: `secret/${name}`, namespace }));
      return tokenOf(caller, tokenRequest(`${box}/auth/token`, name, entries['client_secret'] ?? ''));
    });
  });

  it('prints the memory of each pod', async () => {
    const pods = await listObjects('pods', { namespace: system, selector: 'app.kubernetes.io/name=boxgate' });
    const names = pods.map(nameOf).filter((name) => /^boxgate-(?:api|operator)-/.test(name));
    expect(names).to.have.length(4);
    const found = await idleMemory(names);
    for (const [name, mebibytes] of found) report(`memory of ${name}`, `${mebibytes.toFixed(0)} MiB`);
    const sum = [...found.values()].reduce((total, one) => total + one, 0);
    report('memory of two API pods and two operators', `${sum.toFixed(0)} MiB (goal: 500 MiB)`);
  });
});

/** Applies Clients one after the other, and prints the parts of the time until each has a token. */
async function measureClients(
  prefix: string,
  spec: Readonly<Record<string, unknown>>,
  getToken: (name: string) => Promise<string>,
): Promise<void> {
  const parts: [applied: number, ready: number, token: number][] = [];
  for (let nth = 0; nth < rounds; nth++) {
    const name = `${prefix}-${nth}`;
    const started = performance.now();
    await declare(namespace, [{ kind: 'Client', name, spec }]);
    const applied = performance.now();
    await kubectl('wait', '--for=condition=Ready', `client/${name}`, '--namespace', namespace, '--timeout', '60s');
    const ready = performance.now();
    await getToken(name);
    parts.push([applied - started, ready - applied, performance.now() - ready]);
  }
  const middle = (nth: 0 | 1 | 2): string => `${median(parts.map((one) => one[nth])).toFixed(0)} ms`;
  const total = median(parts.map(([applied, ready, token]) => applied + ready + token));
  report(
    `one Client until its pod has a token (${prefix}), p50 of ${rounds}`,
    `${total.toFixed(0)} ms (goal: 1000 ms)`,
  );
  report('  of this', `kubectl apply ${middle(0)}, kubectl wait ${middle(1)}, token ${middle(2)}`);
}

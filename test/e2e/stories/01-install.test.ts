import { expect } from 'chai';
import { startCaller, type Caller } from '../caller/caller.ts';
import { install, release, system } from '../installation.ts';
import { kubectl, listObjects, nameOf, textAt, untilReady, valueAt } from '../kubectl.ts';
import { runCommand } from '../run-command.ts';
import { timed } from '../timed.ts';
import { bearer, tokenOf, tokenRequest } from '../token.ts';

describe('story 1: from an empty cluster to a token', () => {
  let caller: Caller;
  let token: string;
  let issuer: string;
  before(async () => {
    await timed('kubectl apply of the example until it is Ready', async () => {
      await kubectl('apply', '--filename', 'examples/kubernetes/');
      await untilReady('boxes,clients,accesspolicies', 'bookshop');
    });
    await timed('a pod with its Secret until it has a token', async () => {
      caller = await startCaller({ namespace: 'bookshop', name: 'reporting', secret: 'reporting' });
      const file = (name: string) => caller.read(`/secret/${name}`);
      issuer = await file('issuer');
      const request = tokenRequest(await file('token_url'), await file('client_id'), await file('client_secret'));
      token = await tokenOf(caller, request);
    });
  });
  after(() => caller.close());

  it('runs two replicas of the API and two operators', async () => {
    const deployments = await listObjects('deployments', { namespace: system });
    const ready = deployments.map((one) => [nameOf(one), valueAt(one, 'status', 'readyReplicas')]);
    expect(Object.fromEntries(ready)).to.deep.equal({ 'boxgate-api': 2, 'boxgate-operator': 2 });
  });

  it('lets the pod read sessions by its policy', async () => {
    expect((await caller.call(bearer(`${issuer}/Session`, token))).status).to.equal(200);
  });

  it('lets the pod do nothing else', async () => {
    expect((await caller.call(bearer(`${issuer}/Client`, token))).status).to.equal(403);
    expect((await caller.call(bearer(`${issuer}/AccessPolicy`, token, 'POST'))).status).to.equal(403);
  });

  it('passes helm test', async () => {
    await timed('helm test', () => runCommand('helm', ['test', release, '--namespace', system, '--timeout', '120s']));
  });

  it('replaces no pod in a second helm upgrade with the same values', async () => {
    const before = await runningPods();
    await timed('helm upgrade with the same values', () => install());
    expect(await runningPods()).to.deep.equal(before);
    const status = await runCommand('helm', ['status', release, '--namespace', system, '--output', 'json']);
    const shown: unknown = JSON.parse(status);
    expect(textAt(shown, 'info', 'status')).to.equal('deployed');
  });
});

async function runningPods(): Promise<readonly string[]> {
  const pods = await listObjects('pods', { namespace: system });
  return pods
    .filter((pod) => textAt(pod, 'status', 'phase') === 'Running')
    .map(nameOf)
    .sort();
}

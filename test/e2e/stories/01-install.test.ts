import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parseJson } from '../../../crds/path.ts';
import { isAsPrinted, runBlocks, shellBlocks, type ShellBlock } from '../../operator/shell-page.ts';
import { ownPort } from '../../support/own-port.ts';
import { startCaller, type Caller } from '../caller/caller.ts';
import { install, release, system } from '../installation.ts';
import { readE2eConfig } from '../config.ts';
import { apply, kubectl, listObjects, nameOf, textAt, untilReady, valueAt } from '../kubectl.ts';
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

  it('gives a token outside of the cluster, by the commands that the notes end with', async () => {
    // E-27: token_url is an address of the cluster, and a curl without --show-error printed nothing.
    const notes = await runCommand('helm', ['get', 'notes', release, '--namespace', system]);
    const commands = notes.slice(notes.indexOf('     secret() {'));
    const [printed] = await outside([{ commands, printed: undefined }]);
    expect(textAt(parseJson(printed ?? ''), 'token_type')).to.equal('Bearer');
  });

  it('gives a token, and what its policy allows, by the commands of docs/guides/kubernetes.md', async () => {
    const blocks = shellBlocks(readFileSync('docs/guides/kubernetes.md', 'utf8'));
    const first = blocks.findIndex(({ commands }) => commands.startsWith('kubectl port-forward '));
    const [forward, request, inPod, use] = blocks.slice(first);
    if (forward === undefined || request === undefined || inPod === undefined || use === undefined) {
      throw new Error('docs/guides/kubernetes.md has lost a block');
    }
    const outputs = await outside([forward, request, use]);
    expect(
      outputs.slice(1).map((output, nth) => isAsPrinted([request, use][nth]?.printed ?? '', output)),
    ).to.deep.equal([true, true], outputs.join());
    await apply(podWithCurl);
    await kubectl('wait', '--for=condition=Ready', 'pod/curl', '--namespace', 'bookshop', '--timeout', '120s');
    const answer = await kubectl('exec', 'curl', '--namespace', 'bookshop', '--', 'sh', '-euc', inPod.commands);
    expect(textAt(parseJson(answer), 'token_type')).to.equal('Bearer');
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

/** Runs commands on this machine, with a port that is free in the place of 8000; returns what each block printed. */
async function outside(blocks: readonly ShellBlock[]): Promise<readonly string[]> {
  const port = String(await ownPort());
  const own = blocks.map(({ commands, printed }) => ({ commands: commands.replaceAll('8000', port), printed }));
  // What runs in the background would keep the shell's output open.
  const ending = { commands: "trap 'kill $(jobs -p)' EXIT", printed: undefined };
  return (await runBlocks([ending, ...own], process.env)).slice(1);
}

const podWithCurl = `
apiVersion: v1
kind: Pod
metadata: {name: curl, namespace: bookshop}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers:
    - name: curl
      image: ${readE2eConfig().nginxImage}
      imagePullPolicy: IfNotPresent
      command: [sleep, infinity]
      volumeMounts:
        - {name: secret, mountPath: /secret, readOnly: true}
  volumes:
    - {name: secret, secret: {secretName: reporting}}
`;

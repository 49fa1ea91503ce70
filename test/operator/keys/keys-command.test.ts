import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mock } from 'node:test';
import { readApiConfig } from '../../../api/config.ts';
import { readOperatorConfig } from '../../../operator/config.ts';
import { main } from '../../../operator/keys/commands.ts';
import type { Environment } from '../../../program/environment.ts';
import { controlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { inherited } from '../../support/child-program.ts';
import { environmentOf } from '../../support/operator-process.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** Result of a command. */
interface Ran {
  readonly code: number;
  readonly said: string;
}

describe('boxgate keys', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await controlPlane();
  });

  /** A namespace with a ServiceAccount that has the rights of the chart's Job, and the command in its pod. */
  async function installation() {
    const namespace = await plane.namespace('keys');
    const at = `/api/v1/namespaces/${namespace}`;
    await plane.call({ method: 'POST', path: `${at}/serviceaccounts`, body: { metadata: { name: 'boxgate-keys' } } });
    const names = ['boxgate-keys', 'boxgate-database', 'boxgate-database-api'];
    const rules = [
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: names, verbs: ['get'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['boxgate-keys'], verbs: ['patch'] },
    ];
    const metadata = { name: 'boxgate-keys' };
    await plane.call({ method: 'POST', path: `${rbac}/namespaces/${namespace}/roles`, body: { metadata, rules } });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'boxgate-keys' };
    const subjects = [{ kind: 'ServiceAccount', name: 'boxgate-keys', namespace }];
    const binding = { metadata, roleRef, subjects };
    await plane.call({ method: 'POST', path: `${rbac}/namespaces/${namespace}/rolebindings`, body: binding });
    const { access } = await plane.accountFor(namespace, 'boxgate-keys');
    const settings = { ...environmentOf(access), BOXGATE_NAMESPACE: namespace };
    const run = (args: readonly string[], environment: Environment = {}) =>
      runHere(['keys', ...args], { ...settings, ...environment });
    const runProcess = (...args: readonly string[]) =>
      new Promise<Ran>((resolve) => {
        const command = ['dev/main.ts', 'keys', ...args];
        execFile(process.execPath, command, { env: { ...inherited, ...settings } }, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr });
        });
      });
    const secret = async (name: string): Promise<Readonly<Record<string, string>>> => {
      const { body } = await plane.call({ path: `${at}/secrets/${name}` });
      const data = isObject(body) && isObject(body['data']) ? body['data'] : {};
      const texts: Record<string, string> = {};
      for (const [key, text] of Object.entries(data)) texts[key] = Buffer.from(String(text), 'base64').toString();
      return texts;
    };
    return { at, run, runProcess, secret };
  }

  it('creates keys that the programs accept, once, and never changes them', async () => {
    const { runProcess, secret } = await installation();
    expect(await runProcess('create')).to.deep.equal({ code: 0, said: 'created the Secret boxgate-keys\n' });
    const created = await secret('boxgate-keys');
    const installationSettings = {
      BOXGATE_MANAGEMENT_KEYS: created['management-keys'],
      BOXGATE_PUBLIC_URL: 'https://auth.example.com',
    };
    readApiConfig({
      ...installationSettings,
      BOXGATE_DATABASE_URL: 'postgres://api:x@db/boxgate',
      BOXGATE_ENCRYPTION_KEY: created['encryption-key'],
    });
    readOperatorConfig({
      ...installationSettings,
      BOXGATE_MANAGEMENT_URL: 'https://boxgate-management.boxes.svc:8081',
      BOXGATE_DIGEST_KEY: created['digest-key'],
      BOXGATE_NAMESPACE: 'boxes',
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
    });

    const again = await runProcess('create');
    expect(again).to.deep.equal({ code: 0, said: 'the Secret boxgate-keys exists and is left as it is\n' });
    expect(await secret('boxgate-keys')).to.deep.equal(created);
  });

  it('says which key an existing Secret lacks, and creates none in its place', async () => {
    const { at, run, secret } = await installation();
    const stringData = { 'management-keys': 'a-key-of-16-signs', 'digest-key': 'x', 'encryption-key': 'x' };
    const body = { metadata: { name: 'boxgate-keys' }, stringData };
    await plane.call({ method: 'POST', path: `${at}/secrets`, body });
    const { code, said } = await run(['create']);
    expect(code).to.equal(1);
    expect(said).to.match(/^boxgate: The Secret boxgate-keys lacks the keys tls\.crt, tls\.key, ca\.crt: restore it/);
    expect(await secret('boxgate-keys')).to.deep.equal(stringData);
  });

  it('creates the access to a bundled Postgres for its owner and for the API, in the keys of CloudNativePG', async () => {
    const { run, secret } = await installation();
    const environment = { BOXGATE_BUNDLED_DATABASE_HOST: 'boxgate-postgres.boxes.svc' };
    expect((await run(['create'], environment)).code).to.equal(0);
    const [owner, api] = [await secret('boxgate-database'), await secret('boxgate-database-api')];
    for (const { username = '', password = '', dbname = '', host = '', port = '', uri } of [owner, api]) {
      expect(uri).to.equal(`postgres://${username}:${password}@${host}:${port}/${dbname}`);
    }
    expect([owner['username'], api['username']]).to.deep.equal(['boxgate', 'boxgate_api']);
    expect(owner['password']).not.to.equal(api['password']);
  });

  it('leaves out the Secret with the keys if somebody else provides it', async () => {
    const { at, run, secret } = await installation();
    const environment = { BOXGATE_BUNDLED_DATABASE_HOST: 'boxgate-postgres.boxes.svc', BOXGATE_KEYS_PROVIDED: 'true' };
    expect((await run(['create'], environment)).code).to.equal(0);
    expect(await secret('boxgate-database')).to.include({ username: 'boxgate' });
    expect((await plane.call({ path: `${at}/secrets/boxgate-keys` })).status).to.equal(404);
  });

  it('rotates the management key in three steps, and tells each', async () => {
    const { run, secret } = await installation();
    await run(['create']);
    const { 'management-keys': old = '' } = await secret('boxgate-keys');
    const first = await run(['rotate', 'management']);
    expect(first.said).to.match(
      /^step 1 of 3: .*\nnext: kubectl --namespace [a-z0-9-]+ rollout restart deployment\/boxgate-api; .*\n$/,
    );
    const { 'management-keys': added = '' } = await secret('boxgate-keys');
    expect(added.split(',')[0]).to.equal(old);
    await run(['rotate', 'management']);
    expect((await secret('boxgate-keys'))['management-keys']).to.equal(added.split(',').reverse().join(','));
    await run(['rotate', 'management']);
    expect((await secret('boxgate-keys'))['management-keys']).to.equal(added.split(',')[1]);
  });

  it('rotates the certificate, the encryption key and the digest key', async () => {
    const { run, secret } = await installation();
    await run(['create']);
    const before = await secret('boxgate-keys');
    for (const key of ['certificate', 'certificate', 'certificate', 'encryption', 'encryption', 'digest']) {
      expect((await run(['rotate', key])).code, key).to.equal(0);
    }
    const after = await secret('boxgate-keys');
    expect(Object.keys(after)).to.have.members(Object.keys(before));
    for (const key of ['tls.crt', 'tls.key', 'ca.crt', 'digest-key']) expect(after[key]).not.to.equal(before[key]);
    expect(after['encryption-key']?.split(',')[1]).to.equal(before['encryption-key']);
    expect(after['management-keys']).to.equal(before['management-keys']);
    await run(['forget', 'encryption']);
    expect((await secret('boxgate-keys'))['encryption-key']).to.equal(after['encryption-key']?.split(',')[0]);
  });

  it('rotates no Secret that somebody else provides, and tells its owner the steps of each key', async () => {
    const { run, secret } = await installation();
    await run(['create']);
    const before = await secret('boxgate-keys');
    const steps: readonly (readonly [args: readonly string[], told: RegExp])[] = [
      [
        ['rotate', 'management'],
        /1\. .*`old,new`, .*; 2\. `new,old`, restart boxgate-api and boxgate-operator; 3\. `new`/,
      ],
      [
        ['rotate', 'certificate'],
        /1\. add .* to ca\.crt; 2\. replace tls\.crt and tls\.key; 3\. remove .* from ca\.crt;/,
      ],
      [
        ['rotate', 'encryption'],
        /1\. .*`old,new`, restart boxgate-api; 2\. `new,old`, restart boxgate-api; .*keep the old/,
      ],
      [['rotate', 'digest'], /replace digest-key, restart boxgate-operator/],
      [['forget', 'encryption'], /leave only the first key in encryption-key, restart boxgate-api/],
    ];
    for (const [args, told] of steps) {
      const { code, said } = await run(args, { BOXGATE_KEYS_PROVIDED: 'true' });
      expect(code, args.join(' ')).to.equal(1);
      expect(said)
        .to.match(/^boxgate: The Secret boxgate-keys is provided \(BOXGATE_KEYS_PROVIDED\), .*\n$/)
        .and.to.match(told);
    }
    expect(await secret('boxgate-keys')).to.deep.equal(before);
  });

  it('takes no second step of an encryption key that was reverted after the first one', async () => {
    const { at, run, secret } = await installation();
    await run(['create']);
    const { 'encryption-key': old = '' } = await secret('boxgate-keys');
    await run(['rotate', 'encryption']);
    const body = { data: { 'encryption-key': Buffer.from(old).toString('base64') } };
    const contentType = 'application/merge-patch+json';
    await plane.call({ method: 'PATCH', path: `${at}/secrets/boxgate-keys`, body, contentType });
    const second = await run(['rotate', 'encryption']);
    expect(second.code).to.equal(1);
    expect(second.said).to.match(/^boxgate: The key that step 1 added is no longer in encryption-key: /);
    expect((await secret('boxgate-keys'))['encryption-key']).to.equal(old);
  });

  it('rotates nothing that is not there, and prints its usage for a key that it does not know', async () => {
    const { run } = await installation();
    const missing = await run(['rotate', 'digest']);
    expect(missing).to.deep.equal({
      code: 1,
      said: 'boxgate: There is no Secret boxgate-keys: run boxgate keys create\n',
    });
    const unknown = await run(['rotate', 'tokens']);
    expect(unknown.code).to.equal(2);
    expect(unknown.said).to.match(/^Usage: boxgate keys create/);
  });

  it('says which settings are missing', async () => {
    const { run } = await installation();
    const { code, said } = await run(['create'], { BOXGATE_NAMESPACE: '', BOXGATE_KEYS_SECRET: 'A' });
    expect(code).to.equal(1);
    expect(said).to.contain('BOXGATE_NAMESPACE is missing').and.contain('BOXGATE_KEYS_SECRET must be the name');
  });
});

/** Runs a command in this process, where it starts in a hundredth of the time. */
async function runHere(args: readonly string[], environment: Environment): Promise<Ran> {
  let said = '';
  const outputs = [process.stdout, process.stderr].map((stream) =>
    mock.method(stream, 'write', (text: string) => {
      said += text;
      return true;
    }),
  );
  try {
    return { code: await main(args, environment), said };
  } finally {
    for (const { mock: output } of outputs) output.restore();
  }
}

import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { isList, isObject, parseJson } from '../../crds/path.ts';
import { startDev, urlsOf } from '../dev/dev-process.ts';
import type { DevProcess } from '../dev/dev-process.ts';
import { secretYaml, temporaryFolder } from '../dev/temporary-folder.ts';
import type { TemporaryFolder } from '../dev/temporary-folder.ts';
import { adminSecret, startBoxApi } from '../http/resources/box-api.ts';
import type { BoxApi } from '../http/resources/box-api.ts';
import { clientSamples, fullBox, groupSamples, policySamples } from '../http/resources/every-field.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { startAdminBoxctl, type Boxctl } from './boxctl.ts';

describe('boxctl export and diff', () => {
  let api: BoxApi;
  let dev: DevProcess | undefined;
  let boxctl: Boxctl;
  let folder: TemporaryFolder;
  let exported: string;

  before(async () => {
    api = await startBoxApi();
    folder = temporaryFolder();
    boxctl = await startAdminBoxctl(api.url);
    await api.declare('default', [
      { ...fullBox, kind: 'Box', id: 'default' },
      { kind: 'Group', id: 'declared', description: 'Declared by an object' },
      { kind: 'Client', id: 'Declared_Client', grant_types: [], secret: 'another secret' },
    ]);
    for (const [id, fields] of Object.entries(clientSamples)) await put(`/Client/${id}`, fields);
    for (const [id, fields] of Object.entries(policySamples)) await put(`/AccessPolicy/${id}`, fields);
    for (const body of groupSamples) expect((await api.call('POST', '/Group', { body })).status).to.equal(201);
    await put('/AccessPolicy/by-number', { engine: 'allow', link: [{ resourceType: 'Group', id: '1' }] });
    await put('/AccessPolicy/acting', { engine: 'allow', description: 'a\u009b31m\u202eb' });
    exported = (await boxctl.run(['export'])).output;
  });
  after(async () => {
    await dev?.boxgate.end();
    await boxctl.remove();
    await api.stop();
    folder.remove();
  });

  const put = async (path: string, body: object): Promise<void> => {
    const { status, text } = await api.call('PUT', path, { body });
    expect(status, text).to.be.oneOf([200, 201]);
  };

  it('shows no secret, and refers to a Secret for each', () => {
    expect(exported).not.to.contain(adminSecret).and.not.to.contain('argon2').and.not.to.contain('another secret');
    const clients = manifests(exported).filter(({ kind }) => kind === 'Client');
    const shown = clients.map(({ spec }) => spec).filter(isObject);
    const simple = shown.filter(({ auth, jwks, jwks_uri }) => [auth, jwks, jwks_uri].every((one) => one === undefined));
    expect(simple).to.deep.include.members([
      { grant_types: ['client_credentials'], secretRef: { name: 'admin', key: 'client_secret' } },
      { id: 'Declared_Client', grant_types: [], secretRef: { name: 'declared-client', key: 'client_secret' } },
    ]);
  });

  it('L-02 escapes what could move the cursor of a terminal', () => {
    expect(exported)
      .to.contain('description: "a\\u009b31m\\u202eb"\n')
      .and.not.to.match(/[\u007f-\u009f\u202e]/);
  });

  it('links a group by its name: its number is another group in another box', async () => {
    const { body } = await api.call('GET', '/Group/1');
    const links = manifests(exported).flatMap(({ kind, spec }) =>
      kind === 'AccessPolicy' && isObject(spec) && isList(spec['link']) ? spec['link'] : [],
    );
    const groups = links.filter((one) => isObject(one) && one['resourceType'] === 'Group');
    expect(groups).to.deep.include({ resourceType: 'Group', id: isObject(body) ? body['name'] : undefined });
    expect(groups.map((one) => (isObject(one) ? one['id'] : undefined))).not.to.include('1');
  });

  it('differs in nothing from the box that it was exported from', async () => {
    folder.write('box.yaml', exported);
    expect(await boxctl.run(['diff', folder.path('box.yaml')])).to.include({ code: 0, messages: 'There are none.\n' });
    expect((await boxctl.run(['diff', folder.path('box.yaml'), '--all', '--output', 'json'])).output).to.equal('[]\n');
  });

  it('issue: applied to an empty box, a diff of that box is empty', async () => {
    const references = manifests(exported).flatMap(({ spec }) =>
      isObject(spec) && isObject(spec['secretRef']) ? [String(spec['secretRef']['name'])] : [],
    );
    const secrets = references.map((name) => secretYaml(name, adminSecret));
    folder.write('secrets.yaml', secrets.join('---\n'));
    dev = await startDev(folder.root);
    const { code, output, messages } = await boxctl.run(['diff', folder.root, '--all'], { BOXCTL_SERVER: dev.url });
    expect({ code, messages }, output).to.deep.equal({ code: 0, messages: 'There are none.\n' });
  });

  it('has the hosts and the issuer of a box, which a folder needs no grant for', async () => {
    const settings = { hosts: ['auth.shop.example'], issuer: 'https://auth.shop.example/login' };
    await api.declare('hosted', [
      { kind: 'Box', id: 'hosted', ...settings },
      { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret: adminSecret },
      { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }] },
    ]);
    const { output } = await boxctl.run(['export'], { BOXCTL_BOX: 'hosted' });
    expect(manifests(output)[0]?.['spec']).to.deep.equal(settings);
    const own = temporaryFolder();
    own.write('box.yaml', output);
    own.write(
      'secret.yaml',
      secretYaml('admin', adminSecret).replace('name: admin\n', 'name: admin\n  namespace: hosted\n'),
    );
    const served = await startDev(own.root);
    const there = { BOXCTL_BOX: 'hosted', BOXCTL_SERVER: served.url };
    expect(await boxctl.run(['diff', own.root, '--all'], there)).to.include({ code: 0, messages: 'There are none.\n' });
    await served.boxgate.end();
    own.remove();
  });

  it('says which fields differ, what only one of the two has, and exits with 10', async () => {
    await put('/Client/new-one', { grant_types: [] });
    folder.write('changed/box.yaml', exported.replace('Declared by an object', 'Changed in the folder'));
    const { code, output } = await boxctl.run(['diff', folder.path('changed'), '--all']);
    expect(code).to.equal(10);
    expect(output.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).to.deep.equal([
      'CHANGE | RESOURCE | FIELDS',
      'differs | Group/declared | description',
      'only in the box | Client/new-one',
      '',
    ]);
    const plain = await boxctl.run(['diff', folder.path('changed')]);
    expect(plain.output).not.to.contain('new-one');
  });
});

describe('boxctl export of a box with quotas and a first admin', () => {
  const running: DevProcess[] = [];
  const folders: TemporaryFolder[] = [];
  const databases: TestDatabase[] = [];
  after(async () => {
    for (const { boxgate } of running) await boxgate.end();
    for (const one of folders) one.remove();
    for (const one of databases) await one.drop();
  });

  const adminOfBox = secretYaml('first-admin', 'correct horse battery').replace('client_secret:', 'password:');
  const declared = `apiVersion: v1
kind: Namespace
metadata: { name: default, annotations: { boxgate.dev/quota: 'users=70 clients=5000' } }
---
apiVersion: boxgate.dev/v1
kind: Box
metadata: { name: box }
spec:
  sign_in: { title: Shop }
  bootstrap_admin: { email: Boss@Shop.example, passwordSecretRef: { name: first-admin, key: password } }
---
apiVersion: boxgate.dev/v1
kind: Client
metadata: { name: admin }
spec: { grant_types: [client_credentials], secretRef: { name: admin, key: client_secret } }
---
apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata: { name: admin }
spec: { engine: allow, link: [{ resourceType: Client, id: admin }] }
`;

  /** Starts a box that a folder declares, with the Secrets that it refers to. */
  async function declare(text: string): Promise<{ readonly boxctl: Boxctl; readonly folder: TemporaryFolder }> {
    const folder = temporaryFolder();
    folders.push(folder);
    folder.write('box.yaml', text);
    folder.write('secrets.yaml', [secretYaml('admin', adminSecret), adminOfBox].join('---\n'));
    const database = await freshDatabase();
    databases.push(database);
    const dev = await startDev(folder.root, urlsOf(database));
    running.push(dev);
    return { boxctl: await startAdminBoxctl(dev.url), folder };
  }

  it('has them, and both are in a box that is declared by it', async () => {
    const { boxctl, folder } = await declare(declared);
    const { code, output, messages } = await boxctl.run(['export']);
    expect({ code, messages }).to.deep.equal({ code: 0, messages: '' });
    const [namespace, box] = manifests(output);
    expect(namespace).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default', annotations: { 'boxgate.dev/quota': 'clients=5000,users=70' } },
    });
    expect(box?.['spec']).to.deep.equal({
      sign_in: { title: 'Shop' },
      bootstrap_admin: { email: 'boss@shop.example', passwordSecretRef: { name: 'first-admin', key: 'password' } },
    });
    expect(output).not.to.contain('battery').and.not.to.contain(adminSecret);
    expect(await boxctl.run(['diff', folder.root])).to.include({ code: 0, messages: 'There are none.\n' });
    const again = await declare(output);
    expect(await again.boxctl.run(['diff', again.folder.root, '--all'])).to.include({
      code: 0,
      messages: 'There are none.\n',
    });
    expect((await again.boxctl.run(['user', 'list'])).output).to.contain('boss@shop.example');
    // What no object declared is declared now.
    const plain = (text: string): string => text.replaceAll('  adoption: IfUnowned\n', '');
    expect((await again.boxctl.run(['export'])).output).to.equal(plain(output));
    for (const one of [boxctl, again.boxctl]) await one.remove();
  });

  it('has no first admin who was deleted since', async () => {
    const { boxctl } = await declare(declared);
    // A box keeps its last administrator.
    await boxctl.run(['user', 'new', 'next@shop.example:correct horse battery']);
    await boxctl.run(['user', 'groups', 'next@shop.example', '--add', 'admins']);
    expect(await boxctl.run(['user', 'delete', 'boss@shop.example'])).to.include({ code: 0 });
    expect((await boxctl.run(['export'])).output)
      .not.to.contain('boss@shop.example')
      .and.not.to.contain('bootstrap');
    await boxctl.remove();
  });
});

function manifests(text: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(text)
    .map((document) => parseJson(JSON.stringify(document)))
    .filter(isObject);
}

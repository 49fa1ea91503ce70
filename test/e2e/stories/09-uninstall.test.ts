import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { release, system } from '../installation.ts';
import { exists, kubectl, listObjects, nameOf, textAt, valueAt } from '../kubectl.ts';
import { runCommand } from '../run-command.ts';
import { timed } from '../timed.ts';

/** Kinds whose objects an installation creates in its namespace. */
const kinds = [
  ...[
    'pods',
    'deployments',
    'statefulsets',
    'jobs',
    'cronjobs',
    'services',
    'configmaps',
    'secrets',
    'serviceaccounts',
  ],
  ...['persistentvolumeclaims', 'networkpolicies', 'poddisruptionbudgets', 'horizontalpodautoscalers', 'roles'],
  ...['rolebindings', 'leases', 'ingresses'],
];

/** Objects that Kubernetes itself creates in every namespace. */
const ofKubernetes = ['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default'];

/** Objects that remain in the namespace of the installation, as docs/guides/uninstall.md says. */
const remaining = [
  'Lease/boxgate-operator',
  'PersistentVolumeClaim/data-boxgate-postgres-0',
  'Secret/boxgate-database',
  'Secret/boxgate-database-api',
  'Secret/boxgate-keys',
];

describe('story 8: uninstalling', () => {
  before(async () => {
    if (!(await exists({ object: 'namespace/bookshop' }))) await kubectl('apply', '--filename', 'examples/kubernetes/');
    await timed('helm uninstall', () =>
      runCommand('helm', ['uninstall', release, '--namespace', system, '--wait', '--timeout', '180s']),
    );
  });

  it('keeps the declared objects, without finalizers', async () => {
    const declared = await listObjects('boxes,clients,accesspolicies', { namespace: 'bookshop' });
    expect(declared).to.have.length.greaterThan(3);
    expect(
      declared.filter((object) => valueAt(object, 'metadata', 'finalizers') !== undefined).map(nameOf),
    ).to.deep.equal([]);
  });

  it('leaves in its namespace what the page lists, and nothing else', async () => {
    // Helm does not wait for pods that are ending.
    await kubectl('wait', '--for=delete', 'pods', '--all', '--namespace', system, '--timeout', '240s');
    const left = await listObjects(kinds.join(','), { namespace: system });
    const names = left.map((object) => `${textAt(object, 'kind') ?? ''}/${nameOf(object)}`);
    expect(names.filter((name) => !ofKubernetes.includes(name)).sort()).to.deep.equal(remaining);
    const page = readFileSync('docs/guides/uninstall.md', 'utf8');
    for (const name of remaining) expect(page).to.contain(`\`${name.split('/')[1] ?? ''}\``);
  });

  it('leaves nothing but the definitions in the cluster', async () => {
    const left = await listObjects('clusterroles,clusterrolebindings,customresourcedefinitions');
    const names = left.map(nameOf).filter((name) => name.includes('boxgate'));
    const definitions = ['accesspolicies', 'boxes', 'clients', 'groups'].map((kind) => `${kind}.boxgate.dev`);
    expect(names.sort()).to.deep.equal(definitions);
  });

  it('lets a namespace with declared objects be deleted without an operator', async () => {
    await timed('kubectl delete namespace', () => kubectl('delete', 'namespace', 'bookshop', '--timeout', '60s'));
    expect(await exists({ object: 'namespace/bookshop' })).to.equal(false);
  });

  it('lets the definitions and the namespace of the installation be deleted', async () => {
    const definitions = ['accesspolicies', 'boxes', 'clients', 'groups'].map((kind) => `${kind}.boxgate.dev`);
    await kubectl('delete', 'customresourcedefinitions', ...definitions, '--timeout', '60s');
    await kubectl('delete', 'namespace', system, '--timeout', '60s');
    expect(await exists({ object: `namespace/${system}` })).to.equal(false);
  });
});

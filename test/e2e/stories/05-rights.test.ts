import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { isList, isObject, parseJson, type JsonObject } from '../../../crds/path.ts';
import { system } from '../installation.ts';
import { kubectl, nameOf, textAt, valueAt } from '../kubectl.ts';
import { createNamespace, deleteNamespace } from '../namespace.ts';
import { runCommand } from '../run-command.ts';

const namespace = 'rights';
const account = `system:serviceaccount:${system}:boxgate-operator`;

/** A right: what may be done with which resource. */
type Right = string;

describe('story 10: rights of the operator', () => {
  before(async () => {
    await createNamespace(namespace, { secretless: true });
    await kubectl('create', 'serviceaccount', 'nobody', '--namespace', system);
  });
  after(async () => {
    await kubectl('delete', 'serviceaccount', 'nobody', '--namespace', system);
    await deleteNamespace(namespace);
  });

  it('are those of operator/rbac in its own namespace', async () => {
    const declared = [...rightsOf('ClusterRole', 'boxgate-operator'), ...rightsOf('Role', 'boxgate-operator')];
    await expectRights(system, declared);
  });

  it('are those of its ClusterRole in any other namespace', async () => {
    await expectRights(namespace, rightsOf('ClusterRole', 'boxgate-operator'));
  });

  it('are those of boxgate-box in addition where it is bound', async () => {
    const to = ['--clusterrole=boxgate-box', `--serviceaccount=${system}:boxgate-operator`];
    await kubectl('create', 'rolebinding', 'boxgate-box', '--namespace', namespace, ...to);
    const declared = [...rightsOf('ClusterRole', 'boxgate-operator'), ...rightsOf('ClusterRole', 'boxgate-box')];
    await expectRights(namespace, declared);
  });

  it('are shown by kubectl auth can-i', async () => {
    const list = await kubectl('auth', 'can-i', '--list', '--as', account, '--namespace', namespace);
    expect(list).to.match(/^clients\.boxgate\.dev +\[\] +\[\] +\[get list watch patch\]$/m);
    expect(list).not.to.match(/\[\*\]/);
  });
});

/** Compares the rights that the operator has in a namespace with these, but for those of every ServiceAccount. */
async function expectRights(at: string, declared: readonly Right[]): Promise<void> {
  const everybody = await rightsAs(`system:serviceaccount:${system}:nobody`, at);
  const own = (rights: readonly Right[]) => sorted(rights.filter((right) => !everybody.includes(right)));
  const found = own(await rightsAs(account, at));
  expect(found).to.deep.equal(own(declared));
  expect(found).to.have.length.greaterThan(25);
}

/** Asks the API server, as `kubectl auth can-i --list` does. */
async function rightsAs(user: string, at: string): Promise<readonly Right[]> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: at },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const parameters = ['create', '--as', user, '--raw', path, '--filename', '-'];
  const answer = parseJson(await runCommand('kubectl', parameters, { input: JSON.stringify(review) }));
  const rules = ['resourceRules', 'nonResourceRules'].flatMap((kind) => objectsIn(valueAt(answer, 'status', kind)));
  return rules.flatMap(rightsIn);
}

/** Returns the rights that a role of operator/rbac declares. */
function rightsOf(kind: string, name: string): readonly Right[] {
  const roles = readdirSync('operator/rbac')
    .flatMap((file) => parseAllDocuments(readFileSync(`operator/rbac/${file}`, 'utf8')))
    .map((document): unknown => document.toJS())
    .filter(isObject)
    .filter((object) => textAt(object, 'kind') === kind && nameOf(object) === name);
  expect(roles, `${kind} ${name} in operator/rbac`).to.have.length(1);
  return roles.flatMap((role) => objectsIn(role['rules'])).flatMap(rightsIn);
}

function rightsIn(rule: JsonObject): readonly Right[] {
  const [groups, names] = [textsIn(rule['apiGroups']), textsIn(rule['resourceNames'])];
  const named = names.length === 0 ? [''] : names.map((name) => ` ${name}`);
  return textsIn(rule['verbs']).flatMap((verb) => [
    ...textsIn(rule['nonResourceURLs']).map((url) => `${verb} ${url}`),
    ...groups.flatMap((group) =>
      textsIn(rule['resources']).flatMap((resource) => named.map((name) => `${verb} ${resource}.${group}${name}`)),
    ),
  ]);
}

function sorted(rights: readonly Right[]): readonly Right[] {
  return [...new Set(rights)].sort();
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function textsIn(value: unknown): readonly string[] {
  return isList(value) ? value.map(String) : [];
}

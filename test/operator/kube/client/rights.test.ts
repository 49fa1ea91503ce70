import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { controlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';
import { apiCall } from '../../../support/cluster/api-call.ts';
import { operatorNamespace } from '../../../support/operator-process.ts';
import { bindSecrets, installOperator } from '../../install-operator.ts';

/** Everything the operator may do in any namespace, and no more. What is added here needs a rule that says what for. */
const everywhere = [
  'get,list,patch,watch boxgate.dev/accesspolicies',
  'get,list,patch,watch boxgate.dev/boxes',
  'get,list,patch,watch boxgate.dev/clients',
  'get,list,patch,watch boxgate.dev/groups',
  'patch boxgate.dev/accesspolicies/status',
  'patch boxgate.dev/boxes/status',
  'patch boxgate.dev/clients/status',
  'patch boxgate.dev/groups/status',
  'create events.k8s.io/events',
  'get,list,watch /namespaces',
  'get,list,watch /serviceaccounts',
  'get apiextensions.k8s.io/customresourcedefinitions clients.boxgate.dev,accesspolicies.boxgate.dev,boxes.boxgate.dev,groups.boxgate.dev',
];

/** Paths that are no resources: who issues the tokens of ServiceAccounts, and by which keys. */
const paths = ['get /.well-known/openid-configuration', 'get /openid/v1/jwks'];

const inOwnNamespace = [
  'create /events',
  'create coordination.k8s.io/leases',
  'get,update coordination.k8s.io/leases boxgate-operator',
];

const whereBound = ['create,delete,get,list,patch,watch /secrets', 'create /services', 'get,patch /services boxgate'];

/** Rights of every ServiceAccount: to query its identity and its rights. */
const ofEverybody = /authorization\.k8s\.io\/|authentication\.k8s\.io\//;

describe('the rights of the operator', () => {
  let plane: ControlPlane;
  let token: string;
  let elsewhere: string;
  let bound: string;
  before(async () => {
    plane = await controlPlane();
    await installOperator(plane);
    token = await plane.token(operatorNamespace, 'boxgate-operator');
    [elsewhere, bound] = await Promise.all([plane.namespace('rights'), plane.namespace('rights')]);
    await bindSecrets(plane, bound);
  });

  /** Returns the operator's rights in a namespace, by the API server. */
  async function rightsIn(namespace: string): Promise<string[]> {
    const review = await asOperator('selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace });
    const { resourceRules, incomplete } = isObject(review['status']) ? review['status'] : {};
    expect(incomplete).to.equal(false);
    const verbs = new Map<string, Set<string>>();
    for (const rule of Array.isArray(resourceRules) ? resourceRules.filter(isObject) : []) {
      const names = rule['resourceNames'] === undefined ? '' : ` ${texts(rule['resourceNames']).join()}`;
      for (const group of texts(rule['apiGroups'])) {
        for (const resource of texts(rule['resources'])) {
          const what = `${group}/${resource}${names}`;
          verbs.set(what, new Set([...(verbs.get(what) ?? []), ...texts(rule['verbs'])]));
        }
      }
    }
    const found = [...verbs].map(([what, may]) => `${[...may].sort().join()} ${what}`);
    return found.filter((right) => !ofEverybody.test(right));
  }

  async function asOperator(plural: string, kind: string, spec: object): Promise<Record<string, unknown>> {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
    const call = { method: 'POST', path: `/apis/authorization.k8s.io/v1/${plural}`, body } as const;
    const answer = await apiCall(plane.url, plane.certificate, token, call);
    return isObject(answer.body) ? answer.body : {};
  }

  it('K-01: are these in every namespace', async () => {
    expect(await rightsIn(elsewhere)).to.have.members(everywhere);
  });

  it('K-01: are these in its own namespace', async () => {
    expect(await rightsIn(operatorNamespace)).to.have.members([...everywhere, ...inOwnNamespace]);
  });

  it('K-01: are these where boxgate-box is bound', async () => {
    expect(await rightsIn(bound)).to.have.members([...everywhere, ...whereBound]);
  });

  it('K-01: are these paths beside what everybody may read', async () => {
    const { body: everybody } = await plane.call({
      path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery',
    });
    const open = new Set(pathsOf(isObject(everybody) ? everybody['rules'] : undefined));
    const review = await asOperator('selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace: elsewhere });
    const found = pathsOf(isObject(review['status']) ? review['status']['nonResourceRules'] : undefined);
    expect(found.filter((path) => !open.has(path))).to.include.members(paths);
    const more = found.filter((path) => !open.has(path) && !paths.includes(path));
    expect(more.filter((path) => !/ \/(healthz|livez|readyz|version)$/.test(path))).to.deep.equal([]);
  });

  const never: readonly (readonly [verb: string, group: string, resource: string, subresource?: string])[] = [
    ['get', '', 'secrets'],
    ['list', '', 'secrets'],
    ['watch', '', 'secrets'],
    ['create', '', 'pods', 'exec'],
    ['create', '', 'serviceaccounts', 'token'],
    ['impersonate', '', 'users'],
    ['impersonate', '', 'serviceaccounts'],
    ['escalate', 'rbac.authorization.k8s.io', 'clusterroles'],
    ['bind', 'rbac.authorization.k8s.io', 'clusterroles'],
    ['create', 'rbac.authorization.k8s.io', 'rolebindings'],
    ['patch', '', 'namespaces'],
    ['delete', '', 'namespaces'],
    ['create', 'boxgate.dev', 'clients'],
    ['delete', 'boxgate.dev', 'clients'],
    ['update', 'boxgate.dev', 'clients'],
    ['get', '', 'configmaps'],
    ['create', '', 'services'],
    ['*', '*', '*'],
  ];
  for (const [verb, group, resource, subresource] of never) {
    it(`K-01: are not ${verb} ${[group, resource, subresource].join('/')}, in the whole cluster`, async () => {
      const resourceAttributes = { verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
      const review = await asOperator('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { resourceAttributes });
      expect(review['status']).to.have.property('allowed', false);
    });
  }
});

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** `get /path`, without a slash at its end, of each rule about paths. */
function pathsOf(rules: unknown): string[] {
  const all = Array.isArray(rules) ? rules.filter(isObject) : [];
  return all.flatMap((rule) =>
    texts(rule['nonResourceURLs']).flatMap((path) =>
      texts(rule['verbs']).map((verb) => `${verb} ${path.replace(/\/$/, '')}`),
    ),
  );
}

import { isObject } from '../../../../crds/path.ts';
import { randomUUID } from 'node:crypto';
import type { Kind } from '../../../../crds/kind.ts';
import type { ControlPlane } from '../../../support/cluster/control-plane.ts';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { proof } from '../../../oauth/assertions.ts';
import { sendForm } from '../../../oauth/requests.ts';
import { eventually } from '../../../support/eventually.ts';
import { operatorNamespace } from '../../../support/operator-process.ts';
import { rulesWithout } from './declared-rights.ts';
import type { RightCase, RightsScene } from './rights-scene.ts';
import { serviceRightCases } from './service-right-cases.ts';

interface Sample {
  readonly kind: Kind;
  readonly name: string;
  readonly spec: object;
}

const samples = {
  clients: {
    kind: 'Client',
    name: 'app',
    spec: { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' },
  },
  accesspolicies: {
    kind: 'AccessPolicy',
    name: 'policy',
    spec: { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] },
  },
  boxes: { kind: 'Box', name: 'box', spec: {} },
  groups: { kind: 'Group', name: 'staff', spec: {} },
} as const satisfies Record<string, Sample>;

const generated = { grant_types: ['client_credentials'] };

/** By the name of the right, for each that operator/rbac gives. */
export const rightCases: Readonly<Record<string, RightCase>> = {
  ...Object.fromEntries(Object.entries(samples).flatMap(([plural, sample]) => ofKind(plural, sample))),

  'get /namespaces': {
    breaks: 'no new object is applied: which namespace it is in is not known',
    provoke: put(samples.clients),
    wanted: isReady(samples.clients),
  },
  'list /namespaces': {
    breaks: 'nothing is reconciled after a restart',
    async provoke(scene) {
      await scene.restart();
      await put(samples.clients)(scene);
    },
    wanted: isReady(samples.clients),
  },
  'watch /namespaces': {
    breaks: 'what is granted on a Namespace is not heard of',
    prepare: put({ ...samples.boxes, spec: { hosts: ['shop.example.com'] } }),
    async provoke(scene) {
      scene.cut();
      await eventually('the watch is refused', () => scene.said(refusal('watch', 'namespaces')));
      const body = { metadata: { annotations: { 'boxgate.dev/hosts': 'shop.example.com' } } };
      const path = `/api/v1/namespaces/${scene.box}`;
      await scene.rig.plane.call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    },
    wanted: isReady(samples.boxes),
  },

  'get apiextensions.k8s.io/customresourcedefinitions': {
    breaks: 'no row goes with its object: that might go with its whole kind',
    async prepare(scene) {
      await put(samples.clients)(scene);
      await scene.rig.ready('Client', scene.box, 'app');
    },
    provoke: ({ rig, box }) => rig.remove('Client', box, 'app'),
    wanted: async ({ rig, box }) => (await rig.find('Client', box, 'app')) === undefined,
  },

  'create events.k8s.io/events': {
    breaks: 'people are told of nothing by events',
    provoke: generate('first'),
    async wanted(scene) {
      await generate(`later-${randomUUID()}`)(scene);
      return (await eventsIn(scene.rig, scene.box)).length > 0;
    },
  },

  'get /.well-known/openid-configuration': serviceAccounts('who makes the tokens of ServiceAccounts is not known'),
  'get /openid/v1/jwks': serviceAccounts('the keys of the tokens of ServiceAccounts are not known'),

  'get /serviceaccounts': {
    breaks: 'the tokens of a deleted ServiceAccount stay valid: a list alone says of nothing that it is gone',
    prepare: signInByServiceAccount,
    provoke: deleteServiceAccount,
    wanted: isServiceAccountGone,
  },
  'list /serviceaccounts': {
    breaks: 'no ServiceAccount is known after a restart',
    prepare: signInByServiceAccount,
    async provoke(scene) {
      await scene.restart();
      await deleteServiceAccount(scene);
    },
    wanted: isServiceAccountGone,
  },
  'watch /serviceaccounts': {
    breaks: 'what happens to ServiceAccounts is not heard of',
    prepare: signInByServiceAccount,
    async provoke(scene) {
      scene.cut();
      await eventually('the watch is refused', () => scene.said(refusal('watch', 'serviceaccounts')));
      await deleteServiceAccount(scene);
    },
    wanted: isServiceAccountGone,
  },

  ...serviceRightCases,

  'create /events': {
    breaks: 'nobody is told of rights that are missing in the cluster',
    // A case before may have taken the same right for long enough to be told of.
    prepare: ({ rig }) => forgetEvents(rig.plane),
    provoke: ({ rig }) => takeStatusRight(rig.plane),
    async wanted({ rig }) {
      if (!(await isToldOfRights(rig.plane))) return false;
      await kubectl(rig.plane, 'apply', '-f', 'operator/rbac/cluster-role.yaml');
      return true;
    },
  },

  'create coordination.k8s.io/leases': {
    breaks: 'a Lease that was deleted is not created again',
    async provoke({ rig }) {
      await rig.plane.call({ method: 'DELETE', path: lease });
    },
    async wanted(scene) {
      await scene.revive();
      return (await scene.rig.plane.call({ path: lease })).status === 200;
    },
  },
  'get coordination.k8s.io/leases': renewal('a Lease that was edited is not renewed', async ({ plane }) => {
    const body = { metadata: { annotations: { 'example.com/edited': 'yes' } } };
    await plane.call({ method: 'PATCH', path: lease, body, contentType: 'application/merge-patch+json' });
  }),
  'update coordination.k8s.io/leases': renewal('the Lease is not renewed', async () => undefined),

  'list /secrets': {
    breaks: 'no secret is generated: what is there is not known',
    provoke: put({ ...samples.clients, spec: generated }),
    wanted: isReady(samples.clients),
  },
  'watch /secrets': {
    breaks: 'no client with a generated secret stays Ready: a change of it would not be heard of',
    provoke: put({ ...samples.clients, spec: generated }),
    wanted: isReady(samples.clients),
  },
  'create /secrets': {
    breaks: 'no secret is generated',
    provoke: put({ ...samples.clients, spec: generated }),
    shows: isForbidden,
    wanted: isReady(samples.clients),
  },
  'patch /secrets': {
    breaks: 'a generated Secret does not get the entries that its Client wants',
    prepare: generate('app'),
    provoke: put({ ...samples.clients, spec: { ...generated, generateSecret: { template: { id: '{{client_id}}' } } } }),
    shows: isForbidden,
    async wanted(scene) {
      const { data } = (await secretOf(scene)) ?? {};
      return isObject(data) && data['id'] !== undefined;
    },
  },
  'get /secrets': {
    breaks: 'a Secret of somebody else that is in the way is not told from a lack of rights',
    async provoke(scene) {
      const path = `/api/v1/namespaces/${scene.box}/secrets`;
      await scene.rig.plane.call({ method: 'POST', path, body: { metadata: { name: 'app' } } });
      await put({ ...samples.clients, spec: generated })(scene);
    },
    shows: isForbidden,
    wanted: async ({ rig, box }) =>
      (await rig.condition('Client', box, 'app', 'SecretReady')) === 'False/SecretNotOwned',
  },
  'delete /secrets': {
    breaks: 'a generated secret stays that nobody wants any more',
    async prepare(scene) {
      await generate('another')(scene);
      await generate('app')(scene);
    },
    async provoke(scene) {
      await put(samples.clients)(scene);
      await scene.rig.ready('Client', scene.box, 'app');
    },
    shows: async (scene) => (await secretOf(scene)) !== undefined,
    wanted: async (scene) => (await secretOf(scene)) === undefined,
  },
};

/** The rights on a kind of ours and its status. */
function ofKind(plural: string, sample: Sample): readonly (readonly [string, RightCase])[] {
  const [what, wanted] = [`boxgate.dev/${plural}`, isReady(sample)];
  const again = async (scene: RightsScene): Promise<void> => {
    scene.cut();
    await put(sample)(scene);
  };
  return [
    [
      `get ${what}`,
      {
        breaks: 'no row goes with its object, and the deletion waits',
        async prepare(scene) {
          await put(sample)(scene);
          await scene.rig.ready(sample.kind, scene.box, sample.name);
        },
        provoke: ({ rig, box }) => rig.remove(sample.kind, box, sample.name),
        wanted: async ({ rig, box }) => (await rig.find(sample.kind, box, sample.name)) === undefined,
      },
    ],
    // What is listed each second needs no watch to be heard of in the end.
    [
      `list ${what}`,
      {
        breaks: 'nothing new is heard of',
        environment: { BOXGATE_RELIST_SECONDS: '1' },
        // A watch goes on without a list until one is due.
        async provoke(scene) {
          await eventually('the list is refused', async () => {
            scene.cut();
            await new Promise((resolve) => setTimeout(resolve, 1_500));
            return scene.said(refusal('list', plural));
          });
          await put(sample)(scene);
        },
        wanted,
      },
    ],
    [`watch ${what}`, { breaks: 'nothing is heard of', provoke: again, wanted }],
    [
      `patch ${what}`,
      { breaks: 'nothing is called Ready whose deletion would not wait', provoke: put(sample), wanted },
    ],
    [`patch ${what}/status`, { breaks: 'no status is written', provoke: put(sample), wanted }],
  ];
}

/** The API server's own words, which the operator logs. */
export function refusal(verb: string, resource: string): RegExp {
  return new RegExp(`cannot ${verb} ${resource.startsWith('/') ? 'path' : 'resource'} \\\\?"${resource}\\\\?"`);
}

function put({ kind, name, spec }: Sample) {
  return ({ rig, box }: RightsScene): Promise<void> => rig.put(kind, box, name, spec);
}

function isReady({ kind, name }: Sample) {
  return async ({ rig, box }: RightsScene): Promise<boolean> => (await rig.condition(kind, box, name)) === 'True/Ready';
}

/** A Client with a generated secret, Ready. */
function generate(name: string) {
  return async ({ rig, box }: RightsScene): Promise<void> => {
    await rig.put('Client', box, name, generated);
    await rig.ready('Client', box, name);
  };
}

/** Returns the case of an operator that has sent the API nothing yet. */
function serviceAccounts(breaks: string): RightCase {
  const spec = { grant_types: ['client_credentials'], service_accounts: [{ namespace: 'shop', name: 'app' }] };
  return {
    breaks,
    async provoke(scene) {
      await scene.restart();
      await put({ ...samples.clients, spec })(scene);
    },
    wanted: isReady(samples.clients),
  };
}

/** A Client that a ServiceAccount of its namespace has authenticated. */
async function signInByServiceAccount({ rig, box }: RightsScene): Promise<void> {
  const accounts = `/api/v1/namespaces/${box}/serviceaccounts`;
  await rig.plane.call({ method: 'POST', path: accounts, body: { metadata: { name: 'app' } } });
  await rig.put('Client', box, 'app', {
    grant_types: ['client_credentials'],
    service_accounts: [{ namespace: box, name: 'app' }],
  });
  await rig.ready('Client', box, 'app');
  const url = `${rig.api.url}/boxes/${box}`;
  const metadata: unknown = await (await fetch(`${url}/.well-known/openid-configuration`)).json();
  const spec = { audiences: [isObject(metadata) ? metadata['issuer'] : undefined] };
  const { body } = await rig.plane.call({ method: 'POST', path: `${accounts}/app/token`, body: { spec } });
  const token = isObject(body) && isObject(body['status']) ? String(body['status']['token']) : '';
  const fields = { grant_type: 'client_credentials', client_id: 'app', ...proof(token) };
  const { status, text } = await sendForm(`${url}/auth/token`, fields);
  if (status !== 200) throw new Error(text);
}

async function deleteServiceAccount({ rig, box }: RightsScene): Promise<void> {
  await rig.plane.call({ method: 'DELETE', path: `/api/v1/namespaces/${box}/serviceaccounts/app` });
}

async function isServiceAccountGone({ rig, box }: RightsScene): Promise<boolean> {
  return (await rig.condition('Client', box, 'app')) === 'False/ServiceAccountDeleted';
}

/** The Lease has the time of its last renewal until the operator may renew it again. */
function renewal(breaks: string, edit: (rig: RightsScene['rig']) => Promise<void>): RightCase {
  let before: unknown;
  const renewedAt = async ({ rig }: RightsScene): Promise<unknown> => {
    const { body } = await rig.plane.call({ path: lease });
    return isObject(body) && isObject(body['spec']) ? body['spec']['renewTime'] : undefined;
  };
  return {
    breaks,
    async provoke(scene) {
      await edit(scene.rig);
      // What it had begun with the right has ended then.
      await eventually('it is refused', () => scene.said(/cannot (get|update) resource \\?"leases/));
      before = await renewedAt(scene);
    },
    async wanted(scene) {
      await scene.revive();
      return (await renewedAt(scene)) !== before;
    },
  };
}

async function eventsIn({ plane }: RightsScene['rig'], box: string): Promise<readonly Record<string, unknown>[]> {
  const { body } = await plane.call({ path: `/apis/events.k8s.io/v1/namespaces/${box}/events` });
  return isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
}

/** Lets nobody write the status of a Box. */
async function takeStatusRight(plane: ControlPlane): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/boxgate-operator';
  const { body } = await plane.call({ path });
  const { metadata, rules } = isObject(body) ? body : {};
  const { name } = isObject(metadata) ? metadata : {};
  const less = rulesWithout(rules, { verb: 'patch', group: 'boxgate.dev', resource: 'boxes/status' });
  await plane.call({ method: 'PUT', path, body: { metadata: { name }, rules: less } });
}

const operatorEvents = `/api/v1/namespaces/${operatorNamespace}/events`;

async function forgetEvents(plane: ControlPlane): Promise<void> {
  await plane.call({ method: 'DELETE', path: operatorEvents });
}

/** Checks whether an Event in the operator's namespace names the right. */
async function isToldOfRights(plane: ControlPlane): Promise<boolean> {
  const { body } = await plane.call({ path: operatorEvents });
  const items: readonly unknown[] = isObject(body) && Array.isArray(body['items']) ? body['items'] : [];
  return items.some((item) => isObject(item) && String(item['message']).includes('patch boxes.boxgate.dev/status'));
}

async function isForbidden({ rig, box }: RightsScene): Promise<boolean> {
  return (await rig.condition('Client', box, 'app', 'SecretReady')) === 'False/SecretForbidden';
}

async function secretOf({ rig, box }: RightsScene): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { status, body } = await rig.plane.call({ path: `/api/v1/namespaces/${box}/secrets/app` });
  return status === 200 && isObject(body) ? body : undefined;
}

const lease = `/apis/coordination.k8s.io/v1/namespaces/${operatorNamespace}/leases/boxgate-operator`;

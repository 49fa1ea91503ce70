import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../crds/schema-node.ts';
import type { Environment } from '../../process/environment.ts';
import { startControlPlane, type ControlPlane } from '../envtest/control-plane.ts';
import { kubectl } from '../envtest/install-crds.ts';
import { eventually } from '../support/eventually.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from './operator-rig.ts';

/** Every request is written down: who, what, and whether it was let through. */
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

const machine = { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' };
const policy = { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] };

/** `patch boxgate.dev/clients/status` of each right of the operator itself, as operator/rbac has them. */
function declaredRights(): string[] {
  const files = ['operator/rbac/cluster-role.yaml', 'operator/rbac/role.yaml'];
  const objects = files.flatMap(objectsIn);
  return objects.flatMap(rulesOf).flatMap((rule) => {
    const whats = [
      ...texts(rule['nonResourceURLs']),
      ...texts(rule['apiGroups']).flatMap((group) =>
        texts(rule['resources']).map((resource) => `${group}/${resource}`),
      ),
    ];
    return whats.flatMap((what) => texts(rule['verbs']).map((verb) => `${verb} ${what}`));
  });
}

function objectsIn(file: string): unknown[] {
  const objects: unknown[] = [];
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object: unknown = document.toJS();
    objects.push(object);
  }
  return objects;
}

function rulesOf(role: unknown): Record<string, unknown>[] {
  const rules: readonly unknown[] = isRecord(role) && Array.isArray(role['rules']) ? role['rules'] : [];
  return rules.filter(isRecord);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

describe('the rights that the operator needs', () => {
  let folder: string;
  let plane: ControlPlane;
  let rig: OperatorRig;
  let box: string;
  before(async function () {
    this.timeout(180_000);
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-audit-'));
    await writeFile(path.join(folder, 'policy.json'), JSON.stringify(auditPolicy));
    const flags = ['--audit-policy-file', path.join(folder, 'policy.json'), '--audit-log-path', log()];
    plane = await startControlPlane(flags);
    rig = await startOperatorRig(plane);
    box = await rig.box();
  });
  after(async function () {
    this.timeout(60_000);
    await rig.stop();
    await plane.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const log = (): string => path.join(folder, 'audit.log');
  const quick: Environment = { BOXGATE_SWEEP_SECONDS: '1' };

  /** What the operator has asked for and was given, in the words of {@link declaredRights}. */
  async function used(): Promise<Set<string>> {
    const lines = (await readFile(log(), 'utf8')).split('\n').filter((line) => line.includes('boxgate-operator'));
    const uses = lines.map((line) => usedRight(JSON.parse(line)));
    return new Set(uses);
  }

  async function changeByHand(): Promise<void> {
    const owner = new pg.Client({ connectionString: rig.database.ownerUrl });
    await owner.connect();
    try {
      await owner.query(
        `UPDATE boxgate.resource SET body = body || '{"engine":"by-hand"}' WHERE box = $1 AND kind = 'AccessPolicy'`,
        [box],
      );
    } finally {
      await owner.end();
    }
  }

  const healed = async (): Promise<string> =>
    kubectl(plane, '-n', box, 'get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].series.count}');

  it('K-02: are all of them: each one is used in the life of a box', async function () {
    this.timeout(240_000);
    let operator = await rig.operator(quick);
    await declareAll();
    // A row that somebody has changed is an Event, and a second one counts.
    await eventually(
      'it was told twice',
      async () => {
        await changeByHand();
        return (await healed()).includes('2');
      },
      60_000,
    );
    // What went while nobody watched is looked for once more before its row is removed.
    await operator.end('SIGTERM');
    await forgetAll();
    operator = await rig.operator(quick);
    const missing = async (): Promise<string[]> => {
      const uses = await used();
      return declaredRights().filter((right) => !uses.has(right));
    };
    await eventually('every right was used', async () => (await missing()).length === 0, 60_000).catch(async () => {
      expect(await missing(), 'rights that nothing used').to.deep.equal([]);
    });
    await operator.end('SIGTERM');
  });

  async function declareAll(): Promise<void> {
    await rig.put('Client', box, 'app', machine);
    await rig.put('AccessPolicy', box, 'policy', policy);
    await rig.put('Box', box, 'box', {});
    await rig.ready('Client', box, 'app', 60_000);
    await rig.ready('AccessPolicy', box, 'policy', 60_000);
    await rig.ready('Box', box, 'box', 60_000);
  }

  /** Deletes what is declared, past the finalizers. */
  async function forgetAll(): Promise<void> {
    const objects = ['client/app', 'accesspolicy/policy', 'box/box'];
    await kubectl(plane, '-n', box, 'delete', '--wait=false', ...objects);
    const none = JSON.stringify({ metadata: { finalizers: null } });
    for (const object of objects) {
      await kubectl(plane, '-n', box, 'patch', object, '--type=merge', '-p', none).catch(() => undefined);
    }
  }

  const without: readonly (readonly [right: string, resource: string, verb: string, breaks: string])[] = [
    ['patch of statuses', 'clients/status', 'patch', 'no status is written'],
    ['watch of clients', 'clients', 'watch', 'nothing is heard of'],
  ];
  for (const [right, resource, verb, breaks] of without) {
    it(`K-02: without the ${right}, ${breaks}, and the log says what is forbidden`, async function () {
      this.timeout(120_000);
      const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/boxgate-operator';
      const rules = rulesOf((await plane.call({ path: role })).body).flatMap((rule) => lessThan(rule, resource, verb));
      await plane.call({
        method: 'PUT',
        path: role,
        body: { rules, metadata: { name: 'boxgate-operator' } },
      });
      let operator: OperatorProcess | undefined;
      try {
        operator = await rig.operator(quick);
        await rig.put('Client', box, `without-${verb}`, { ...machine, description: resource });
        const said = new RegExp(`cannot ${verb} resource \\\\?"${resource}\\\\?"`);
        await eventually('it says so', () => operator?.lines.some((line) => said.test(line)) === true, 60_000);
        expect(await rig.condition('Client', box, `without-${verb}`)).not.to.equal('True/Ready');
      } finally {
        await operator?.end('SIGTERM');
        await kubectl(plane, 'apply', '-f', 'operator/rbac/');
      }
    });
  }
});

/** A rule without one verb on one resource. */
function lessThan(rule: Readonly<Record<string, unknown>>, resource: string, verb: string): object[] {
  if (!texts(rule['resources']).includes(resource)) return [rule];
  const others = texts(rule['resources']).filter((one) => one !== resource);
  const verbs = texts(rule['verbs']).filter((one) => one !== verb);
  const rest = verbs.length === 0 ? [] : [{ ...rule, resources: [resource], verbs }];
  return others.length === 0 ? rest : [{ ...rule, resources: others }, ...rest];
}

/** `patch boxgate.dev/clients/status` of a request that was let through. */
function usedRight(entry: unknown): string {
  const { objectRef, verb, responseStatus, requestURI } = isRecord(entry) ? entry : {};
  const code = isRecord(responseStatus) ? Number(responseStatus['code']) : 0;
  if (code === 403 || code === 401) return '';
  if (!isRecord(objectRef)) return `${String(verb)} ${String(requestURI).split('?')[0] ?? ''}`;
  const { apiGroup = '', resource, subresource } = objectRef;
  const below = typeof subresource === 'string' ? `/${subresource}` : '';
  return `${String(verb)} ${String(apiGroup)}/${String(resource)}${below}`;
}

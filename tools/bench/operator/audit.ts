import { isObject, parseJson } from '../../../crds/json-value.ts';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onCluster, type BenchCluster, type ClusterOptions } from './cluster.ts';
import { operatorNamespace } from '../../../test/support/operator-process.ts';

/** Audit log of the operator's writes, kept by the API server. */
export interface AuditLog {
  /** Flags of kube-apiserver. */
  readonly flags: readonly string[];
  /** Returns the count of writes of each sort so far: `patch clients/status`. */
  writes(): Promise<ReadonlyMap<string, number>>;
  remove(): Promise<void>;
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    // A question about rights is posted, and writes nothing.
    { level: 'None', resources: [{ group: 'authorization.k8s.io' }] },
    {
      level: 'Metadata',
      users: [`system:serviceaccount:${operatorNamespace}:boxgate-operator`],
      verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
    },
    { level: 'None' },
  ],
};

/** Does work on a cluster whose API server notes what the operator writes; see {@link onCluster}. */
export async function onAuditedCluster<T>(
  options: ClusterOptions,
  work: (cluster: BenchCluster, log: AuditLog) => Promise<T>,
): Promise<T> {
  const log = await auditLog();
  try {
    return await onCluster({ ...options, flags: log.flags }, (cluster) => work(cluster, log));
  } finally {
    await log.remove();
  }
}

/** An audit log of the operator's writes, in a new temporary folder. */
async function auditLog(): Promise<AuditLog> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-audit-'));
  const [policyFile, log] = [path.join(folder, 'policy.json'), path.join(folder, 'log')];
  await writeFile(policyFile, JSON.stringify(policy));
  await writeFile(log, '');
  return {
    flags: ['--audit-policy-file', policyFile, '--audit-log-path', log],
    async writes() {
      const counts = new Map<string, number>();
      for (const line of (await readFile(log, 'utf8')).split('\n')) {
        const { verb, objectRef } = entryOf(line);
        if (!isObject(objectRef)) continue;
        const { resource, subresource } = objectRef;
        const sort = `${String(verb)} ${String(resource)}${typeof subresource === 'string' ? `/${subresource}` : ''}`;
        counts.set(sort, (counts.get(sort) ?? 0) + 1);
      }
      return counts;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function entryOf(line: string): Record<string, unknown> {
  const entry = parseJson(line);
  return isObject(entry) ? entry : {};
}

/** The writes that are in the second count and not in the first, leases left out. */
export function writesBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const more = [...after].map(([sort, count]): [string, number] => [sort, count - (before.get(sort) ?? 0)]);
  return new Map(more.filter(([sort, count]) => count > 0 && !sort.endsWith(' leases')));
}

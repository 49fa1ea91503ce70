import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startControlPlane, type ControlPlane } from '../support/cluster/control-plane.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { applyCrds } from '../support/cluster/install-crds.ts';
import { eventually } from '../support/eventually.ts';

const run = promisify(execFile);

/** A Kubernetes API that knows the kinds of the chart, with the namespace `boxgate-system`. */
export interface ChartPlane {
  readonly plane: ControlPlane;
  /** A folder for files of a test. */
  readonly folder: string;
  /**
   * Lets the API server validate manifests as `kubectl apply` would send them, but for those that it has found valid
   * before, as most objects of two renderings are the same; resolves with its warnings.
   */
  validate(manifests: string): Promise<string>;
  stop(): Promise<void>;
}

/** Kinds of other projects, which a cluster has only with them: their definitions here accept any spec. */
const foreignKinds = [
  ['monitoring.coreos.com', 'ServiceMonitor', 'servicemonitors', 'v1'],
  ['monitoring.coreos.com', 'PodMonitor', 'podmonitors', 'v1'],
  ['monitoring.coreos.com', 'PrometheusRule', 'prometheusrules', 'v1'],
  ['gateway.networking.k8s.io', 'HTTPRoute', 'httproutes', 'v1'],
] as const;

/** Starts an API server with the definitions of all kinds that the chart may contain. */
export async function startChartPlane(): Promise<ChartPlane> {
  const plane = await startControlPlane();
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-chart-'));
  await applyCrds(plane);
  for (const kind of foreignKinds) await define(plane, kind);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const body = { metadata: { name: 'boxgate-system', labels } };
  await plane.call({ method: 'POST', path: '/api/v1/namespaces', body });
  const valid = new Set(['']);
  return {
    plane,
    folder,
    async validate(manifests) {
      const documents = manifests.split(/^---$/m).map((text) => text.trim());
      const others = documents.filter((text) => !valid.has(text));
      if (others.length === 0) return '';
      const file = path.join(folder, 'manifests.yaml');
      await writeFile(file, others.join('\n---\n'));
      const apply = [
        'apply',
        '--server-side',
        '--force-conflicts',
        '--dry-run=server',
        '--validate=strict',
        '-f',
        file,
      ];
      // Under a name of its own: the definitions that the API server has already were applied by another kubectl.
      apply.push('--field-manager=chart');
      const { stderr } = await run(findPrograms().kubectl, ['--kubeconfig', plane.kubeconfig, ...apply]);
      if (stderr === '') for (const text of others) valid.add(text);
      return stderr;
    },
    async stop() {
      await plane.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function define(plane: ControlPlane, kindOf: (typeof foreignKinds)[number]): Promise<void> {
  const [group, kind, plural, version] = kindOf;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, experimental-only' };
  const names = { kind, plural, singular: kind.toLowerCase() };
  const versions = [{ name: version, served: true, storage: true, schema }];
  const body = {
    metadata: { name: `${plural}.${group}`, annotations },
    spec: { group, scope: 'Namespaced', names, versions },
  };
  await plane.call({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body });
  const served = async () => (await plane.call({ path: `/apis/${group}/${version}/${plural}` })).status === 200;
  await eventually(`${plural} are served`, served);
}

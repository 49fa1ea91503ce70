import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { neededHelm } from '../needs/helm.ts';

const run = promisify(execFile);

/** The version of Kubernetes that a chart is rendered for where no cluster can be asked. */
const kubeVersion = '1.34.0';

/** Returns the manifests of the chart with values such as `api.replicas=3`. Rejects with what helm says. */
export async function renderChart(values: readonly string[], options: readonly string[] = []): Promise<string> {
  const sets = values.flatMap((value) => ['--set', value]);
  const place = ['boxgate', 'charts/boxgate', '--namespace', 'boxgate-system', '--kube-version', kubeVersion];
  const { stdout } = await run(neededHelm(), ['template', ...place, ...sets, ...options], { maxBuffer: 32 * 2 ** 20 });
  return stdout;
}

/** Returns the installation for people without Helm: the namespace, and the chart with values (`image.tag=dev`). */
export async function staticInstallation(values: readonly string[] = []): Promise<string> {
  const manifests = await renderChart(values, ['--no-hooks']);
  return `${head}${manifests.replaceAll(/^ *app\.kubernetes\.io\/managed-by: .*\n/gm, '')}`;
}

const head = `# Boxgate with a Postgres for evaluation: kubectl apply --server-side -f boxgate.yaml
# Made from charts/boxgate by \`make static\`. Do not edit.
apiVersion: v1
kind: Namespace
metadata:
  name: boxgate-system
  labels:
    pod-security.kubernetes.io/enforce: restricted
`;

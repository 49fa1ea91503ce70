// `make envtest`: puts etcd, kube-apiserver, kubectl and kube-controller-manager into a cache folder outside the tree,
// unless they are there.
import { obtain } from './obtain.ts';

try {
  const programs = await obtain(process.env, (line) => process.stderr.write(`envtest: ${line}\n`));
  process.stdout.write(`envtest: ${Object.values(programs).join(', ')}\n`);
} catch (error) {
  process.stderr.write(`envtest: ${error instanceof Error ? error.message : 'unknown'}\n`);
  process.exitCode = 1;
}

import type { ClusterAccess } from '../../config.ts';
import { inCluster } from './in-cluster.ts';
import { kubeconfigFile } from './kubeconfig-file.ts';
import type { KubeCredentialsSource } from './credentials.ts';

/** Returns the configured way to sign in. Throws if a kubeconfig cannot be read. */
export async function signInSource(access: ClusterAccess): Promise<KubeCredentialsSource> {
  return 'kubeconfig' in access ? kubeconfigFile(access.kubeconfig) : inCluster(access);
}

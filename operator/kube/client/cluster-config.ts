import type { ClusterAccess } from '../../config.ts';
import { inCluster } from './in-cluster.ts';
import { kubeconfigFile } from './kubeconfig-file.ts';
import type { SignInSource } from './sign-in.ts';

/** Returns the configured way to sign in. Throws if a kubeconfig cannot be read. */
export async function signInSource(access: ClusterAccess): Promise<SignInSource> {
  return 'kubeconfig' in access ? kubeconfigFile(access.kubeconfig) : inCluster(access);
}

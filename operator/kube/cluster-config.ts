import type { ClusterAccess } from '../config.ts';
import { inCluster } from './in-cluster.ts';
import { kubeconfigFile } from './kubeconfig-file.ts';
import type { SignInSource } from './sign-in.ts';

/** The way to sign in that the operator is told of. Throws when a kubeconfig cannot be read. */
export async function signInSource(access: ClusterAccess): Promise<SignInSource> {
  return 'kubeconfig' in access ? kubeconfigFile(access.kubeconfig) : inCluster(access);
}

import { KubeConfig } from '@kubernetes/client-node';

/** Reads where the cluster is and who we are: from a file, else from what every pod is given. Throws when it is not there. */
export function clusterConfig(path: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (path === undefined) config.loadFromCluster();
  else config.loadFromFile(path);
  return config;
}

import type * as Library from '@kubernetes/client-node';
import { Agent } from 'undici';
import type { KubeCredentialsSource } from './credentials.ts';

/**
 * Signs in as a kubeconfig file says, in every way that the client library supports: certificates, tokens, token files,
 * plugins, OpenID Connect. Only then is the library loaded: with the models of all of Kubernetes it takes more memory
 * than the operator's whole program. Throws if the file cannot be read.
 */
export async function kubeconfigFile(file: string): Promise<KubeCredentialsSource> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  config.loadFromFile(file);
  return async () => {
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error(`${file} names no cluster`);
    const context = new library.RequestContext(server, library.HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    return {
      server,
      headers: context.getHeaders(),
      certificates: certificatesOf(config, library),
      makePool: () => context.getDispatcher() ?? new Agent(),
    };
  };
}

function certificatesOf(config: Library.KubeConfig, { bufferFromFileOrString }: typeof Library): string {
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  return [
    bufferFromFileOrString(cluster?.caFile, cluster?.caData),
    bufferFromFileOrString(user?.certFile, user?.certData),
    bufferFromFileOrString(user?.keyFile, user?.keyData),
  ]
    .map((content) => content?.toString('base64') ?? '')
    .join();
}

import { bufferFromFileOrString, RequestContext, type HttpMethod, type KubeConfig } from '@kubernetes/client-node';

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>;

/** Signs requests in, and sends all of them over the same few connections. */
export interface Connection {
  /** A request to a path of the API server, signed in. Throws when a file of the configuration cannot be read. */
  request(method: HttpMethod, path: string): Promise<RequestContext>;
  /** Reads the configuration, its token and its certificates anew before the next request. */
  reload(): void;
}

/**
 * A connection to the cluster of a configuration, which `load` reads. The client library would make a pool of sockets, and
 * so a TLS handshake, for every request; here there is one for as long as the certificates have the same content.
 */
export function createConnection(load: () => KubeConfig): Connection {
  let config: KubeConfig | undefined;
  let pool: { readonly certificates: string; readonly dispatcher: Dispatcher } | undefined;

  function pooled(certificates: string, made: Dispatcher): Dispatcher {
    if (pool?.certificates === certificates) return pool.dispatcher;
    // What is under way over the old one ends by itself.
    pool?.dispatcher.close().catch(() => undefined);
    pool = { certificates, dispatcher: made };
    return made;
  }

  return {
    async request(method, path) {
      config ??= load();
      const current = config;
      const server = current.getCurrentCluster()?.server;
      if (server === undefined) throw new Error('the Kubernetes configuration names no cluster');
      const context = new RequestContext(`${server.replace(/\/$/, '')}${path}`, method);
      await current.applySecurityAuthentication(context);
      const made = context.getDispatcher();
      if (made !== undefined) context.setDispatcher(pooled(certificatesOf(current), made));
      context.setHeaderParam('User-Agent', 'boxgate-operator');
      return context;
    },
    reload() {
      config = undefined;
      pool?.dispatcher.close().catch(() => undefined);
      pool = undefined;
    },
  };
}

/** Their content, not their names: a file is another one once it was rotated. */
function certificatesOf(config: KubeConfig): string {
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  return [
    bufferFromFileOrString(cluster?.caFile, cluster?.caData),
    bufferFromFileOrString(user?.certFile, user?.certData),
    bufferFromFileOrString(user?.keyFile, user?.keyData),
  ]
    .map((content) => content?.toString('base64') ?? '')
    .join();
}

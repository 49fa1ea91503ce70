import { bufferFromFileOrString, HttpMethod, RequestContext, type KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher } from 'undici';

/** A request to the API server. */
export interface KubeRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Signs requests in, and sends all of them over the same few connections. */
export interface Connection {
  /**
   * The beginning of the answer; its body is to be read, or destroyed. Throws when there is none, and when a file of the
   * configuration cannot be read.
   */
  send(request: KubeRequest): Promise<Dispatcher.ResponseData>;
  /** Reads the configuration, its token and its certificates anew before the next request. */
  reload(): void;
}

/** What requests are signed in with. */
interface SignIn {
  readonly origin: string;
  /** Before every path. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  /** When it was made, by a clock that never goes back, in milliseconds. */
  readonly at: number;
}

/** Milliseconds for which one reading of the token and the certificates serves: files are not read for every call. */
const freshness = 1_000;

/**
 * A connection to the cluster of a configuration, which `load` reads. The client library finds the cluster and signs in; it
 * would make a pool of sockets, and so a TLS handshake, for every request, where here there is one for as long as the
 * certificates have the same content; and it would send by `fetch`, which takes three times as much of a thread.
 */
export function createConnection(load: () => KubeConfig, now: () => number = () => performance.now()): Connection {
  let config: KubeConfig | undefined;
  let pool: { readonly certificates: string; readonly dispatcher: Dispatcher } | undefined;
  let known: SignIn | undefined;

  function pooled(certificates: string, made: Dispatcher | undefined): Dispatcher {
    if (pool?.certificates === certificates) return pool.dispatcher;
    // What is under way over the old one ends by itself.
    pool?.dispatcher.close().catch(() => undefined);
    pool = { certificates, dispatcher: made ?? new Agent() };
    return pool.dispatcher;
  }

  async function signIn(): Promise<SignIn> {
    const at = now();
    if (known !== undefined && at - known.at < freshness) return known;
    config ??= load();
    const current = config;
    const server = current.getCurrentCluster()?.server;
    if (server === undefined) throw new Error('the Kubernetes configuration names no cluster');
    const context = new RequestContext(server, HttpMethod.GET);
    await current.applySecurityAuthentication(context);
    const { origin, pathname } = new URL(server);
    const dispatcher = pooled(certificatesOf(current), context.getDispatcher());
    const headers = { ...context.getHeaders(), 'User-Agent': 'boxgate-operator' };
    const made = { origin, prefix: pathname.replace(/\/$/, ''), headers, dispatcher, at };
    // Unless it was to be read anew meanwhile.
    if (config === current) known = made;
    return made;
  }

  return {
    async send({ method, path, headers, body, signal }) {
      const { origin, prefix, headers: own, dispatcher } = await signIn();
      const sent = { origin, path: `${prefix}${path}`, method, headers: { ...own, ...headers }, signal };
      return dispatcher.request({ ...sent, body: body ?? null });
    },
    reload() {
      config = undefined;
      known = undefined;
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

import type { Dispatcher } from 'undici';
import type { KubeCredentials, KubeCredentialsSource } from './credentials.ts';
import { unlessAborted } from '../../../process/unless-aborted.ts';

/** A request to the API server. */
export interface KubeRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Signs requests in, and sends all of them over the same few connections. */
export interface Connection {
  /**
   * Returns the beginning of the answer; the caller must read or destroy its body. Throws if there is no answer, and if
   * a file of the configuration cannot be read. The signal ends the wait for the credentials and a request without a
   * body. A request with one goes on: Node (24.21) frames the unsent body of a closed HTTP/2 stream forever, in empty
   * DATA frames, and its process never runs anything else.
   */
  send(request: KubeRequest): Promise<Dispatcher.ResponseData>;
  /** Discards the configuration, its token and its certificates, so that the next request reads them again. */
  reload(): void;
}

/** Destination of requests, and the credentials for it. */
interface Target {
  readonly origin: string;
  /** Prefix of every path. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/** Milliseconds for which the token and the certificates are reused: files are not read for every call. */
const freshness = 1_000;

/**
 * Creates a connection to a cluster, which `load` finds. One pool of sockets is used for as long as the certificates
 * have the same content: a pool for each request, as the client library creates it, would be a TLS handshake for each.
 * `now` is in milliseconds, from a clock that never goes back.
 */
export function createConnection(
  load: () => KubeCredentialsSource | Promise<KubeCredentialsSource>,
  now: () => number = () => performance.now(),
): Connection {
  let source: Promise<KubeCredentialsSource> | undefined;
  let pool: { readonly certificates: string; readonly dispatcher: Dispatcher } | undefined;
  let known: { readonly at: number; readonly target: Promise<Target> } | undefined;
  let begun = 0;
  /** The most recently started sign-in that has completed. */
  let newest: { readonly nth: number; readonly target: Target } | undefined;

  function pooled(found: KubeCredentials): Dispatcher {
    if (pool?.certificates === found.certificates) return pool.dispatcher;
    // Running requests over the old pool end by themselves.
    pool?.dispatcher.close().catch(() => undefined);
    pool = { certificates: found.certificates, dispatcher: found.makePool() };
    return pool.dispatcher;
  }

  async function signIn(): Promise<Target> {
    begun += 1;
    const nth = begun;
    source ??= Promise.resolve().then(load);
    const found = await (await source)();
    // It must not close the pool of a later sign-in, which found newer certificates.
    if (newest !== undefined && newest.nth > nth) return newest.target;
    const { origin, pathname } = new URL(found.server);
    const target: Target = {
      origin,
      prefix: pathname.replace(/\/$/, ''),
      headers: { ...found.headers, 'User-Agent': 'boxgate-operator' },
      dispatcher: pooled(found),
    };
    newest = { nth, target };
    return target;
  }

  async function target(): Promise<Target> {
    const at = now();
    if (known === undefined || at - known.at >= freshness) known = { at, target: signIn() };
    const current = known;
    try {
      return await current.target;
    } catch (error) {
      // The next call reads all of it again.
      if (known === current) [source, known] = [undefined, undefined];
      throw error;
    }
  }

  return {
    async send({ method, path, headers, body, signal }) {
      // A plugin that signs in may hang: each caller stops waiting by its own signal.
      const { origin, prefix, headers: own, dispatcher } = await unlessAborted(target(), signal);
      const sent = { origin, path: `${prefix}${path}`, method, headers: { ...own, ...headers } };
      return dispatcher.request(body === undefined ? { ...sent, body: null, signal } : { ...sent, body });
    },
    reload() {
      [source, known, newest] = [undefined, undefined, undefined];
      pool?.dispatcher.close().catch(() => undefined);
      pool = undefined;
    },
  };
}

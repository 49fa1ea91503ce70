import type { Dispatcher } from 'undici';
import type { SignIn, SignInSource } from './sign-in.ts';
import { unlessAborted } from './unless-aborted.ts';

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

/** Where requests go, and what they are signed in with. */
interface Target {
  readonly origin: string;
  /** Before every path. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/** Milliseconds for which one reading of the token and the certificates serves: files are not read for every call. */
const freshness = 1_000;

/**
 * A connection to a cluster, which `load` finds. One pool of sockets serves for as long as the certificates have the same
 * content: a pool for each request, as the client library makes it, would be a TLS handshake for each. `now` is in
 * milliseconds, of a clock that never goes back.
 */
export function createConnection(
  load: () => SignInSource | Promise<SignInSource>,
  now: () => number = () => performance.now(),
): Connection {
  let source: Promise<SignInSource> | undefined;
  let pool: { readonly certificates: string; readonly dispatcher: Dispatcher } | undefined;
  let known: { readonly at: number; readonly target: Promise<Target> } | undefined;
  let begun = 0;
  /** The most recently started sign-in that has completed. */
  let newest: { readonly nth: number; readonly target: Target } | undefined;

  function pooled(found: SignIn): Dispatcher {
    if (pool?.certificates === found.certificates) return pool.dispatcher;
    // What is under way over the old one ends by itself.
    pool?.dispatcher.close().catch(() => undefined);
    pool = { certificates: found.certificates, dispatcher: found.makePool() };
    return pool.dispatcher;
  }

  async function signIn(): Promise<Target> {
    begun += 1;
    const nth = begun;
    source ??= Promise.resolve().then(load);
    const found = await (await source)();
    // It must not close the pool of one that began later, and found newer certificates.
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
      // The next call reads all of it anew.
      if (known === current) [source, known] = [undefined, undefined];
      throw error;
    }
  }

  return {
    async send({ method, path, headers, body, signal }) {
      // A plugin that signs in may take for ever: whoever waits for it gives up by itself.
      const { origin, prefix, headers: own, dispatcher } = await unlessAborted(target(), signal);
      const sent = { origin, path: `${prefix}${path}`, method, headers: { ...own, ...headers }, signal };
      return dispatcher.request({ ...sent, body: body ?? null });
    },
    reload() {
      [source, known, newest] = [undefined, undefined, undefined];
      pool?.dispatcher.close().catch(() => undefined);
      pool = undefined;
    },
  };
}

import type { Dispatcher } from 'undici';

/** Current credentials for calls of the Kubernetes API. */
export interface KubeCredentials {
  /** URL of the API server; a path in it precedes that of every call. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Content of the certificates and keys, not their names: rotation changes the content of a file. */
  readonly certificates: string;
  /** Creates a pool of connections with these certificates. */
  makePool(): Dispatcher;
}

/** Finds a cluster and signs in. Reads again what may have changed; throws if something cannot be read. */
export type KubeCredentialsSource = () => Promise<KubeCredentials>;

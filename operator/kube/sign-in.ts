import type { Dispatcher } from 'undici';

/** What calls of the Kubernetes API are signed in with, as it is now. */
export interface SignIn {
  /** URL of the API server; a path in it stands before that of every call. */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Content of the certificates and keys, not their names: a file is another one once it was rotated. */
  readonly certificates: string;
  /** Makes a pool of connections that are made with these certificates. */
  makePool(): Dispatcher;
}

/** A way to find a cluster and to sign in. Reads anew what may have changed; throws when something cannot be read. */
export type SignInSource = () => Promise<SignIn>;

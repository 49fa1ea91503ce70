import type { SecretFacts } from './generated-secret.ts';
import type { ResolvedSecret } from './resolve-secret.ts';

/** A Client that is to have a generated secret, and what its Secret is to say. */
export interface SecretWish {
  /** Name of the Client. */
  readonly client: string;
  readonly uid: string;
  /** Takes over a client that was retained, and with it the secret that was released. */
  readonly adopt: boolean;
  /** Name of the Secret. */
  readonly secret: string;
  /** What the client may do with it. */
  readonly grants: readonly string[];
  readonly template: Readonly<Record<string, string>> | undefined;
  readonly facts: SecretFacts;
}

/** Where generated secrets are kept: Secrets in a cluster, files in a state folder. */
export interface SecretKeeper {
  /** Makes what is missing and writes what differs; the secret of each wish by the name of its Client. */
  keep(box: string, wishes: readonly SecretWish[], signal: AbortSignal): Promise<ReadonlyMap<string, ResolvedSecret>>;
  /** The names of all generated secrets that are kept for a box; not those that were released. */
  names(box: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Lets go of secrets whose client goes on without its object: they stay as they are. */
  release(box: string, names: readonly string[], signal: AbortSignal): Promise<void>;
  /** Removes secrets whose Client is gone or has another secret now. */
  forget(box: string, names: readonly string[], signal: AbortSignal): Promise<void>;
}

import type { Secret } from '../api/client/secret.ts';
import type { SecretFacts } from './generated-secret.ts';
import type { ResolvedSecret } from './resolve-secret.ts';
import type { Rotation, SecretUsage } from './rotation.ts';

/** A Client that is to have a generated secret, and what its Secret is to say. */
export interface SecretWish {
  /** Name of the Client. */
  readonly client: string;
  readonly uid: string;
  /** Takes over a client that was retained, and with it the secret that was released. */
  readonly adopt: boolean;
  /** Its row is that of an earlier object of its name, with the secret that this one had. */
  readonly inherits: boolean;
  /** Name of the Secret. */
  readonly secret: string;
  /** What the client may do with it. */
  readonly grants: readonly string[];
  readonly template: Readonly<Record<string, string>> | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly facts: SecretFacts;
  readonly rotation: Rotation;
  /** The secret that the API is known to have for the client. */
  readonly applied: Secret | undefined;
  /** Whether the client had this Secret before, although its keeper may not remember it. */
  readonly hadSecret: () => boolean;
  /** How the client's secrets are used, where that was asked for. */
  readonly usage: SecretUsage | undefined;
}

/** A generated secret that is kept, and what is known of the client that has it. */
export interface KeptName {
  /** Name of the Secret. */
  readonly name: string;
  /** Of the Client. */
  readonly uid?: string;
  /** Of the client, in its row. */
  readonly id?: string;
}

/** Where generated secrets are kept: Secrets in a cluster, files in a state folder. */
export interface SecretKeeper {
  /** Makes what is missing and writes what differs; the secret of each wish by the name of its Client. */
  keep(box: string, wishes: readonly SecretWish[], signal: AbortSignal): Promise<ReadonlyMap<string, ResolvedSecret>>;
  /** Another text once somebody else has changed what is kept under a name; asked for every client in every pass. */
  version(box: string, name: string): string;
  /** All generated secrets that are kept for a box; not those that were released. */
  names(box: string, signal: AbortSignal): Promise<readonly KeptName[]>;
  /** Lets go of secrets whose client goes on without its object: they stay as they are. */
  release(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<void>;
  /** Removes secrets whose Client is gone or has another secret now. */
  forget(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<void>;
}

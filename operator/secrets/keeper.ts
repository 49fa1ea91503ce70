import type { Secret } from '../../api/client/secret.ts';
import type { ResolvedSecret, ReadySecret } from './resolve.ts';
import { type Rotation, type SecretUsage, nextLook, type KeptSecret, type SecretChange } from './rotation.ts';
import { NEVER } from '../../crds/duration.ts';
import type { ObjectEvent } from '../status/status.ts';
import { SECRET_ENTRIES } from '../../crds/kubernetes-fields.ts';

/** A Client that needs a generated secret, and the content of its Secret. */
export interface SecretRequest {
  /** Name of the Client. */
  readonly client: string;
  readonly uid: string;
  /** True if it takes over a client that was retained, and with it the secret that was released. */
  readonly adopt: boolean;
  /** True if its row is that of an earlier object of its name, with the secret of that object. */
  readonly inherits: boolean;
  /** Name of the Secret. */
  readonly secret: string;
  /** Grants of the client. */
  readonly grants: readonly string[];
  readonly template: Readonly<Record<string, string>> | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly facts: SecretFacts;
  readonly rotation: Rotation;
  /** The secret that the API is known to have for the client. */
  readonly applied: Secret | undefined;
  /** Checks whether the client had this Secret before, although its keeper may not remember it. */
  readonly hadGeneratedSecret: () => boolean;
  /** Usage of the client's secrets, if it was read. */
  readonly usage: SecretUsage | undefined;
}

/** A generated secret that is kept, and its client as far as it is known. */
export interface KeptName {
  /** Name of the Secret. */
  readonly name: string;
  /** Uid of the Client. */
  readonly uid?: string;
  /** Id of the client in its row. */
  readonly id?: string;
}

/** Storage of generated secrets: Secrets in a cluster, files in a state folder. */
export interface SecretKeeper {
  /** Creates what is missing and writes what differs; returns the secret of each request by the name of its Client. */
  keep(
    box: string,
    requests: readonly SecretRequest[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ResolvedSecret>>;
  /** Returns another text once somebody else has changed the secret; called for every client in every pass. */
  version(box: string, name: string): string;
  /** Returns all generated secrets that are kept for a box, except released ones. */
  names(box: string, signal: AbortSignal): Promise<readonly KeptName[]>;
  /** Releases secrets whose client stays without its object: they remain as they are. Returns those that it may not. */
  release(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<readonly KeptName[]>;
  /**
   * Leaves secrets to the Clients that refer to them now, and remembers none of their texts: the value may be another
   * one when it is generated again. Absent: nothing can refer to what is kept.
   */
  leave?(box: string, kept: readonly KeptName[]): void;
  /** Deletes secrets whose Client is gone or has another secret now. */
  forget(box: string, kept: readonly KeptName[], signal: AbortSignal): Promise<void>;
}

/** State of a box's generated secrets that is kept between two passes. */
export interface SecretCache {
  /** By name of the Secret: a generated secret, and its Client. */
  readonly generated: Map<string, KeptName & { readonly client: string }>;
  /** Names of generated secrets that no Client wanted at the last sweep. */
  leftovers: ReadonlySet<string>;
}

/** The generated secrets of one box, in one pass. */
export interface KeptSecrets {
  readonly box: string;
  readonly keeper: SecretKeeper;
  readonly cache: SecretCache;
  readonly signal: AbortSignal;
}

const never = Date.parse(NEVER);

/** Returns what a kept secret means for its client's row; `version` is its keeper's name for this state of it. */
export function resolveKept(
  kept: KeptSecret,
  version: string,
  { rotation, usage }: Pick<SecretRequest, 'rotation' | 'usage'>,
  now: number,
): ReadySecret {
  const { value, next, previous } = kept;
  const look = nextLook(kept, rotation, now);
  if (next !== undefined) {
    return { state: 'ready', value: next, previous: { value, until: never }, isStaged: true, version };
  }
  if (previous === undefined) return { state: 'ready', value, version, look };
  return { state: 'ready', value, previous, version, look, previousLastUsed: usage?.previousLastUsed };
}

type Telling = Pick<ObjectEvent, 'type' | 'reason' | 'message'>;

/** Returns the event for a change of a generated secret; `isKnown`: the client had one before. */
export function secretEvent(
  box: string,
  { client, uid, secret }: SecretRequest,
  change: SecretChange,
  isKnown: boolean,
): ObjectEvent | undefined {
  const telling = TELLINGS[change](`Secret ${secret}`, isKnown);
  return telling && { object: { kind: 'Client', namespace: box, name: client, uid }, ...telling };
}

const overlap = 'the one before is valid until the overlap ends';

const TELLINGS = {
  none: () => undefined,
  // Nobody sees it yet.
  staged: () => undefined,
  made: (secret, isKnown) =>
    isKnown
      ? { type: 'Warning', reason: 'SecretRecreated', message: `${secret} was gone and has a new secret; ${overlap}` }
      : { type: 'Normal', reason: 'SecretCreated', message: `${secret} holds the secret of this client` },
  renewed: (secret) => ({
    type: 'Warning',
    reason: 'SecretRenewed',
    message: `${secret} no longer held the generated secret and has a new one; ${overlap}`,
  }),
  taken: (secret) => ({
    type: 'Warning',
    reason: 'SecretReplaced',
    message: `${secret} holds another secret that somebody put there; ${overlap}`,
  }),
  rotated: (secret) => ({
    type: 'Normal',
    reason: 'SecretRotated',
    message: `${secret} holds a new secret; ${overlap}`,
  }),
  retired: (secret) => ({
    type: 'Normal',
    reason: 'SecretRetired',
    message: `${secret}: the previous secret has expired`,
  }),
} as const satisfies Record<SecretChange, (secret: string, isKnown: boolean) => Telling | undefined>;

/** Values that a generated Secret gives an application, in addition to the secret itself. */
interface SecretFacts {
  readonly client_id: string;
  readonly issuer: string;
  readonly token_url: string;
  readonly in_cluster_token_url: string;
  readonly jwks_url: string;
}

type Values = SecretFacts & { readonly client_secret: string };

/**
 * Returns a client's id and the addresses of its box, as in the discovery document (RFC 8414 §3.2). Without a cluster
 * there is no other token URL inside of it.
 */
export function secretFacts(clientId: string, issuer: string, inClusterTokenUrl = `${issuer}/auth/token`): SecretFacts {
  return {
    client_id: clientId,
    issuer,
    token_url: `${issuer}/auth/token`,
    in_cluster_token_url: inClusterTokenUrl,
    jwks_url: `${issuer}/.well-known/jwks.json`,
  };
}

/**
 * Returns the entries of a generated Secret: the usual six, or those of a template with its placeholders replaced. A
 * template that never mentions the secret gets it as `client_secret`, or it would be lost.
 */
export function secretEntries(
  template: Readonly<Record<string, string>> | undefined,
  facts: SecretFacts,
  clientSecret: string,
): ReadonlyMap<string, string> {
  const values: Values = { ...facts, client_secret: clientSecret };
  if (template === undefined) return new Map(SECRET_ENTRIES.map((name) => [name, values[name]]));
  const entries = new Map(Object.entries(template).map(([name, text]) => [name, filled(text, values)]));
  if (![...entries.values()].some((text) => text.includes(clientSecret))) entries.set('client_secret', clientSecret);
  return entries;
}

function filled(text: string, values: Values): string {
  return text.replace(/\{\{ ?(\w+) ?\}\}/g, (whole, word: string) => {
    const name = SECRET_ENTRIES.find((known) => known === word);
    return name === undefined ? whole : values[name];
  });
}

import { ManagementError } from '../../api/client/management-error.ts';
import type { Secret } from '../../api/client/secret.ts';
import type { LastUses, NamespaceClaim } from '../../api/client/desired-state.ts';
import type { KnownRow } from '../reconcile/box-cache.ts';
import { objectKey, type Declared } from '../desired/declared.ts';
import type { Candidate, Desired } from '../desired/desired.ts';
import { secretFacts } from './keeper.ts';
import type { KeptSecrets, SecretRequest } from './keeper.ts';
import { missing, type ResolvedSecret, secretName } from './resolve.ts';
import type { SecretUsage } from './rotation.ts';
import type { BoxSecrets } from '../desired/source.ts';

/** Input for the generated secrets of a box. */
export interface GeneratedSecretsOf {
  /** Clients that need a generated secret. */
  readonly wanting: readonly Candidate[];
  /** True to look also at unchanged ones. */
  readonly lookAtAll: boolean;
  readonly issuer: string;
  /** Token URL of the box for the pods of its cluster; undefined if there is no cluster. */
  readonly inClusterTokenUrl: string | undefined;
  readonly isTaken: BoxSecrets['isTaken'];
  /** By object key: the desired state at the last pass. */
  readonly known: ReadonlyMap<string, Desired>;
  /** By row key: the rows in the database. */
  readonly rows: Rows;
  /** True if the namespace is being deleted: nothing can be created in it. */
  readonly isTerminating: boolean;
  /** True if the box may hold rows of objects that no longer exist but whose names come back. */
  readonly mayInherit: boolean;
  /** Reads the last use of each client with a row. Throws ManagementError. */
  readonly lastUses: () => Promise<LastUses['clients']>;
  /** Checks whether this Secret was generated for a Client, by traces outside of it. */
  readonly hadGeneratedSecret: (client: Declared, secret: string) => boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** By row key. */
type Rows = ReadonlyMap<string, KnownRow>;

/** Returns the generated secrets by the name of their Client. Unchanged ones are checked in a sweep, or when due. */
export async function generatedSecrets(
  { box, keeper, cache, signal }: KeptSecrets,
  of: GeneratedSecretsOf,
): Promise<ReadonlyMap<string, ResolvedSecret>> {
  const { wanting, lookAtAll, known: before, rows, now } = of;
  const resolved = new Map<string, ResolvedSecret>();
  const due: Candidate[] = [];
  for (const one of wanting) {
    const name = wantedName(one);
    const known = before.get(one.object.key);
    const version = (): string => keeper.version(box, name);
    if (!lookAtAll && known?.validated === one.validated && isAsBefore(known, rows, now, version)) {
      resolved.set(one.object.name, known.secret);
    } else if (of.isTaken(name)) resolved.set(one.object.name, notOwned(name));
    else if (of.isTerminating) resolved.set(one.object.name, notMade(name));
    else due.push(one);
  }
  if (due.length === 0) return resolved;
  const isNew = (one: Candidate): boolean => !cache.generated.has(wantedName(one));
  const inherits = of.mayInherit && due.some(isNew);
  const inherited = inherits ? await inheritedClients(of.lastUses) : nothingInherited;
  if (inherited === undefined) {
    for (const one of due.filter(isNew)) resolved.set(one.object.name, notKnown(now));
  }
  const usage = await usageWhereDue(of, due);
  const requests = due
    .filter((one) => inherited !== undefined || !isNew(one))
    .map((one) => {
      const isInherited = inherited?.has(one.validated.id) === true && isNew(one);
      return requestOf(of, one, { usage: usage.get(one.validated.id), inherits: isInherited });
    });
  const kept = await keeper.keep(box, requests, signal);
  for (const { client, uid, secret: name, facts, usage: asked } of requests) {
    const secret = kept.get(client);
    if (secret === undefined) continue;
    const known = before.get(objectKey({ kind: 'Client', name: client }))?.secret;
    resolved.set(client, asked === undefined ? withKnownUse(secret, known) : secret);
    if (secret.state !== 'ready') continue;
    cache.generated.set(name, { name, client, uid, id: facts.client_id });
  }
  return resolved;
}

function wantedName({ object, validated: { secret } }: Candidate): string {
  return secretName(secret, object.name) ?? object.name;
}

function isAsBefore({ secret, ...known }: Desired, rows: Rows, now: number, version: () => string): boolean {
  if (secret.state !== 'ready' || (secret.look ?? Infinity) <= now || secret.version !== version()) return false;
  return secret.isStaged !== true || appliedSecret({ secret, ...known }, rows) === undefined;
}

/** Returns when the first secret of a box is checked next, in milliseconds since 1970; undefined: none is. */
export function nextLook(desired: readonly Desired[], rows: Rows): number | undefined {
  let next: number | undefined;
  for (const one of desired) {
    const look = lookAt(one, rows);
    if (look !== undefined && look < (next ?? Infinity)) next = look;
  }
  return next;
}

/** Returns when a client's secret is checked next, in milliseconds since 1970; 0 for an applied staged one. */
function lookAt(one: Desired, rows: Rows): number | undefined {
  const { secret } = one;
  if (secret.state === 'none') return undefined;
  if (secret.state === 'ready' && secret.isStaged === true) return appliedSecret(one, rows) && 0;
  return secret.look;
}

/** Returns the secret that the API has, as far as is known. */
function appliedSecret({ object, validated, digest, secret }: Desired, rows: Rows): Secret | undefined {
  const row = rows.get(validated.rowKey);
  const isApplied = row?.digest === digest && row.declarer.uid === object.uid;
  return isApplied && secret.state === 'ready' ? secret.value : undefined;
}

/** Reads the usage only if an old secret may retire. Unknown usage is no reason to retire one. */
async function usageWhereDue(
  { known, lastUses, now }: GeneratedSecretsOf,
  due: readonly Candidate[],
): Promise<ReadonlyMap<string, SecretUsage>> {
  const isAsked = due.some(({ object }) => {
    const secret = known.get(object.key)?.secret;
    return secret?.state === 'ready' && secret.previous !== undefined && (secret.look ?? Infinity) <= now;
  });
  if (!isAsked) return new Map();
  try {
    return new Map(
      (await lastUses()).map(({ id, last_token_at, previous_secret_last_used }) => [
        id,
        { lastToken: timeOf(last_token_at), previousLastUsed: timeOf(previous_secret_last_used) },
      ]),
    );
  } catch (error) {
    if (error instanceof ManagementError) return new Map();
    throw error;
  }
}

/** Keeps the known use of the previous secret if none was read now: otherwise its status would come and go. */
function withKnownUse(secret: ResolvedSecret, known: ResolvedSecret | undefined): ResolvedSecret {
  if (secret.state !== 'ready' || known?.state !== 'ready' || known.previousLastUsed === undefined) return secret;
  if (secret.previous === undefined) return secret;
  const isSame = secret.previous.value?.reveal() === known.previous?.value?.reveal();
  return isSame ? { ...secret, previousLastUsed: known.previousLastUsed } : secret;
}

function timeOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** Facts about one generated secret that its object does not tell. */
interface RequestFacts {
  readonly usage: SecretUsage | undefined;
  /** True if the client has a row of an earlier object. */
  readonly inherits: boolean;
}

function requestOf(
  { issuer, inClusterTokenUrl, known: before, rows, hadGeneratedSecret }: GeneratedSecretsOf,
  one: Candidate,
  { usage, inherits }: RequestFacts,
): SecretRequest {
  const { object, validated } = one;
  if (validated.secret.from !== 'generated') throw new TypeError(`${object.key} has no generated secret`);
  const { template, labels, annotations, rotation } = validated.secret;
  const known = before.get(object.key);
  return {
    client: object.name,
    uid: object.uid,
    adopt: validated.adopt !== undefined,
    inherits,
    secret: wantedName(one),
    grants: validated.traits.kind === 'Client' ? validated.traits.grants : [],
    template,
    labels,
    annotations,
    facts: secretFacts(validated.id, issuer, inClusterTokenUrl),
    rotation,
    applied: known?.object.uid === object.uid ? appliedSecret(known, rows) : undefined,
    hadGeneratedSecret: () => inherits || hadGeneratedSecret(object, wantedName(one)),
    usage,
  };
}

const nothingInherited: ReadonlySet<string> = new Set();

/** Milliseconds until the API is asked again. */
const askAgain = 2_000;

/** Postpones a new secret until it is known whether the client already has one. */
function notKnown(now: number): ResolvedSecret {
  return {
    ...missing('SecretNotRead', 'the API does not answer yet whether the client has a secret of an earlier object'),
    look: now + askAgain,
  };
}

/** Returns that nothing can be created in a namespace that is being deleted: every attempt is refused. */
function notMade(name: string): ResolvedSecret {
  return missing('NamespaceTerminating', `Secret ${name} is not created: the namespace is being deleted`);
}

function notOwned(name: string): ResolvedSecret {
  return missing('SecretNotOwned', `Secret ${name} is declared by somebody else; give generateSecret.name another one`);
}

/**
 * Checks whether a box may hold rows of objects that no longer exist but whose names come back: those of an older
 * cluster (`BOXGATE_ADOPT_CLUSTER`), or of the namespace that an admin adopts.
 */
export function mayInherit(adopts: string | undefined, claim: NamespaceClaim | undefined): boolean {
  return adopts !== undefined || claim?.adopt !== undefined;
}

/**
 * Returns the ids of the clients that have a row of this cluster, including adopted ones; undefined while the API
 * cannot tell. A new secret must then wait, because the one in the row would end without an overlap.
 */
async function inheritedClients(
  lastUses: () => Promise<LastUses['clients']>,
): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await lastUses()).map(({ id }) => id));
  } catch (error) {
    if (error instanceof ManagementError) return undefined;
    throw error;
  }
}

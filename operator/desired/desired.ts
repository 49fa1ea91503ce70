import type { KeyObject } from 'node:crypto';
import type { Secret } from '../../api/client/secret.ts';
import { ownerOf, type Declared, digestOf, type SecretPart } from './declared.ts';
import type { ValidatedObject } from './validate.ts';
import type { ResolvedSecret } from '../secrets/resolve.ts';
import type { Link } from '../../crds/links.ts';

/** Returns the links of policies that nobody declares here and of which nothing is known yet, each once. */
export function linksToAsk(
  desired: readonly Desired[],
  isHere: (rowKey: string) => boolean,
  known: ReadonlyMap<string, boolean>,
): readonly Link[] {
  const unknown = new Map<string, Link>();
  for (const { validated } of desired) {
    for (const link of linksOf(validated)) {
      const key = linkKey(link);
      if (!isHere(key) && !known.has(key)) unknown.set(key, link);
    }
  }
  return [...unknown.values()];
}

/** Returns a policy's links to missing resources, as `Client/x`, each once. */
export function danglingLinks(
  validated: Desired['validated'],
  isThere: (rowKey: string) => boolean,
): readonly string[] {
  return linkNames(validated).filter((key) => !isThere(key));
}

/** Returns a policy's links, as `Client/x`, each once. */
export function linkNames(validated: Desired['validated']): readonly string[] {
  return [...new Set(linksOf(validated).map(linkKey))];
}

/** Shared: nearly every object has none. */
const noLinks: readonly never[] = [];

/** Returns the links of a policy; none for other kinds. */
export function linksOf({ traits }: Desired['validated']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : noLinks;
}

/** Returns the row key of a link's target. */
export function linkKey({ resourceType, id }: Link): string {
  return rowKey({ kind: resourceType, id });
}

/** An object, validated by itself. */
export interface Candidate {
  readonly object: Declared;
  readonly validated: ValidatedObject;
}

/** An object, with the owner of its id if that is another object. */
export type Contender = Pick<Desired, 'object' | 'validated' | 'loses'>;

/** An object with everything that decides the state of its row; the same instance until any of that changes. */
export interface Desired extends Candidate {
  readonly secret: ResolvedSecret;
  /** The owner name of another object that declares the same id and has it. */
  readonly loses: string | undefined;
  /** Digest of the row that it wants. */
  readonly digest: string;
}

/**
 * The intended state of an object's row. `declare`: as declared; `update`: as declared if it exists, because a secret
 * is missing and a client without one is never created; `leave`: unchanged; `none`: the row is another object's.
 */
export type Intent = 'declare' | 'update' | 'leave' | 'none';

/** Decides the state of an object's row. A faulty or suspended object leaves it unchanged, as an API server would. */
export function intentOf({ object, validated, secret, loses }: Desired): Intent {
  if (loses !== undefined) return 'none';
  if (validated.suspended || validated.faults.length > 0) return 'leave';
  // The settings of a box apply even without its first admin.
  return secret.state === 'missing' && object.kind !== 'Box' ? 'update' : 'declare';
}

/** Returns the key of a row within its box. */
export function rowKey({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind}/${id}`;
}

/** Returns the row that an object declares. */
export function rowOf({ object, validated }: Candidate) {
  return { kind: object.kind, id: validated.id };
}

/**
 * Finds the objects that lose their id: the key of each object whose id an older one has, with that one's owner name.
 * Creation times are whole seconds: of two from the same second, the one that has its row in `rows` keeps the id.
 */
export function contests(candidates: readonly Candidate[], rows: Holders): ReadonlyMap<string, string> {
  const spelled = spelledIds(candidates);
  if (spelled.size === 0) return none;
  const holders = new Map<string, Candidate>();
  const losers: Candidate[] = [];
  for (const candidate of candidates) {
    if (!spelled.has(candidate.validated.rowKey)) continue;
    const row = candidate.validated.rowKey;
    const holder = holders.get(row);
    if (holder === undefined) holders.set(row, candidate);
    else if (isAhead(candidate.object, holder.object, rows.get(row)?.declarer.uid)) {
      holders.set(row, candidate);
      losers.push(holder);
    } else losers.push(candidate);
  }
  return new Map(losers.map((loser) => [loser.object.key, holderName(holders.get(loser.validated.rowKey) ?? loser)]));
}

/** By row key: the object that has the row. */
export type Holders = ReadonlyMap<string, { readonly declarer: { readonly uid: string } }>;

/** Returns the ids set in `spec.id`: names are unique, so only these can be contested. */
function spelledIds(candidates: readonly Candidate[]): ReadonlySet<string> {
  return new Set(candidates.filter(({ object, validated }) => validated.rowKey !== object.key).map(rowKeyOf));
}

const none: ReadonlyMap<string, string> = new Map();

function rowKeyOf({ validated }: Candidate): string {
  return validated.rowKey;
}

/** Adds to each candidate the owner of its id if that is another object. */
export function contested(candidates: readonly Candidate[], rows: Holders): readonly Contender[] {
  const losers = contests(candidates, rows);
  return candidates.map(({ object, validated }) => ({ object, validated, loses: losers.get(object.key) }));
}

function holderName({ object }: Candidate): string {
  return ownerOf(object).name;
}

function isAhead(one: Declared, other: Declared, holder: string | undefined): boolean {
  if (one.created !== other.created) return one.created < other.created;
  if (holder === one.uid || holder === other.uid) return holder === one.uid;
  return one.uid < other.uid;
}

/** Desired state of an object, before its digest is computed. */
export type Undigested = Omit<Desired, 'digest'>;

/** Returns the desired state of an object; the earlier instance as long as nothing about it has changed. */
export function desiredOf(
  { object, validated, secret: resolved, loses }: Undigested,
  before: Desired | undefined,
  digestKey: KeyObject,
): Desired {
  const secret = before !== undefined && saysTheSame(before.secret, resolved) ? before.secret : resolved;
  const isSameRow = before?.validated === validated && isSameSecret(before.secret, secret);
  if (!isSameRow) {
    const digest = digestOf(digestKey, validated.content, secretPart(secret));
    return { object, validated, secret, loses, digest };
  }
  const isSame = before.object === object && before.secret === secret && before.loses === loses;
  return isSame ? before : { ...before, object, secret, loses };
}

function isSameSecret(one: ResolvedSecret, other: ResolvedSecret): boolean {
  if (one.state !== 'ready' || other.state !== 'ready') return one.state === other.state;
  const [before, after] = [one.previous, other.previous];
  const isSamePrevious = isSameText(before?.value, after?.value) && before?.until === after?.until;
  return isSameText(one.value, other.value) && isSamePrevious;
}

function isSameText(one: Secret | undefined, other: Secret | undefined): boolean {
  return one === other || one?.reveal() === other?.reveal();
}

/** Checks whether two secrets say the same. Changes are found by identity: a new object would be a change. */
function saysTheSame(one: ResolvedSecret, other: ResolvedSecret): boolean {
  if (!isSameSecret(one, other)) return false;
  if (one.state === 'missing' && other.state === 'missing') {
    return one.reason === other.reason && one.message === other.message && one.look === other.look;
  }
  if (one.state !== 'ready' || other.state !== 'ready') return true;
  const isSameState = one.version === other.version && one.isStaged === other.isStaged;
  return isSameState && one.look === other.look && one.previousLastUsed === other.previousLastUsed;
}

function secretPart(secret: ResolvedSecret): SecretPart {
  switch (secret.state) {
    case 'ready':
      return secret;
    case 'none':
      return 'none';
    case 'missing':
      return 'kept';
  }
}

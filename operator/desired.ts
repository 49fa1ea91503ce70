import type { KeyObject } from 'node:crypto';
import { ownerOf, type Declared } from './declared.ts';
import { digestOf, type SecretPart } from './digest.ts';
import type { Judged } from './judge.ts';
import type { ResolvedSecret } from './resolve-secret.ts';

/** An object and what is known of it by itself. */
export interface Candidate {
  readonly object: Declared;
  readonly judged: Judged;
}

/** An object, and who has its id if it has not. */
export type Contender = Pick<Desired, 'object' | 'judged' | 'loses'>;

/** An object with everything that decides what becomes of its row; the same one until any of that changes. */
export interface Desired extends Candidate {
  readonly secret: ResolvedSecret;
  /** The owner name of another object that declares the same id and has it. */
  readonly loses: string | undefined;
  /** Digest of the row it wants. */
  readonly digest: string;
}

/**
 * What is to become of an object's row: `declare`, it is to be so; `update`, it is to be so if it is there, because a
 * secret is missing and a client without one is never made; `leave`, it stays as it is; `none`, it is another's.
 */
export type Intent = 'declare' | 'update' | 'leave' | 'none';

/** What is to become of the row of an object. A faulty or suspended object leaves its row alone, as an API server would. */
export function intentOf({ object, judged, secret, loses }: Desired): Intent {
  if (loses !== undefined) return 'none';
  if (judged.suspended || judged.faults.length > 0) return 'leave';
  // The settings of a box hold without its first admin.
  return secret.state === 'missing' && object.kind !== 'Box' ? 'update' : 'declare';
}

/** Names a row within its box. */
export function rowKey({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind}/${id}`;
}

/** The row that an object declares. */
export function rowOf({ object, judged }: Candidate) {
  return { kind: object.kind, id: judged.id };
}

/**
 * Who loses an id to whom: the key of each object that declares an id which an older one has, with that one's owner name.
 * Times of creation are whole seconds: of two of the same second, the one that has its row in `rows` keeps the id.
 */
export function contests(candidates: readonly Candidate[], rows: Holders): ReadonlyMap<string, string> {
  const spelled = spelledIds(candidates);
  if (spelled.size === 0) return none;
  const holders = new Map<string, Candidate>();
  const losers: Candidate[] = [];
  for (const candidate of candidates) {
    if (!spelled.has(candidate.judged.rowKey)) continue;
    const row = candidate.judged.rowKey;
    const holder = holders.get(row);
    if (holder === undefined) holders.set(row, candidate);
    else if (isAhead(candidate.object, holder.object, rows.get(row)?.declarer.uid)) {
      holders.set(row, candidate);
      losers.push(holder);
    } else losers.push(candidate);
  }
  return new Map(losers.map((loser) => [loser.object.key, holderName(holders.get(loser.judged.rowKey) ?? loser)]));
}

/** By row key: the object whose row is there. */
export type Holders = ReadonlyMap<string, { readonly declarer: { readonly uid: string } }>;

/** Whether two objects may declare one id. */
export function isAnyContested(candidates: readonly Candidate[]): boolean {
  const spelled = spelledIds(candidates);
  if (spelled.size === 0) return false;
  const ids = candidates.map(rowKeyOf).filter((key) => spelled.has(key));
  return new Set(ids).size < ids.length;
}

/** Names are unique: an id that is one can only be contested by somebody who spells it out in spec.id. */
function spelledIds(candidates: readonly Candidate[]): ReadonlySet<string> {
  return new Set(candidates.filter(({ object, judged }) => judged.rowKey !== object.key).map(rowKeyOf));
}

const none: ReadonlyMap<string, string> = new Map();

function rowKeyOf({ judged }: Candidate): string {
  return judged.rowKey;
}

/** The candidates with who has their id. */
export function contested(candidates: readonly Candidate[], rows: Holders): readonly Contender[] {
  const losers = contests(candidates, rows);
  return candidates.map(({ object, judged }) => ({ object, judged, loses: losers.get(object.key) }));
}

function holderName({ object }: Candidate): string {
  return ownerOf(object).name;
}

function isAhead(one: Declared, other: Declared, holder: string | undefined): boolean {
  if (one.created !== other.created) return one.created < other.created;
  if (holder === one.uid || holder === other.uid) return holder === one.uid;
  return one.uid < other.uid;
}

/** The object as it is desired now: the one of before, as long as nothing about it changed. */
export function desiredOf(
  candidate: Candidate,
  resolved: ResolvedSecret,
  loses: string | undefined,
  before: Desired | undefined,
  digestKey: KeyObject,
): Desired {
  const { object, judged } = candidate;
  const secret = before !== undefined && saysTheSame(before.secret, resolved) ? before.secret : resolved;
  const isSameRow = before?.judged === judged && isSameSecret(before.secret, secret);
  if (!isSameRow) {
    const digest = digestOf(digestKey, judged.content, secretPart(secret));
    return { object, judged, secret, loses, digest };
  }
  const isSame = before.object === object && before.secret === secret && before.loses === loses;
  return isSame ? before : { ...before, object, secret, loses };
}

function isSameSecret(one: ResolvedSecret, other: ResolvedSecret): boolean {
  if (one.state !== 'ready' || other.state !== 'ready') return one.state === other.state;
  const [before, after] = [one.previous, other.previous];
  return one.value === other.value && before?.value === after?.value && before?.until === after?.until;
}

/** Who looks for changes compares objects: one that is made anew in each pass would be a change in each. */
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

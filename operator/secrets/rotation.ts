import { secondsOf } from '../../crds/duration.ts';
import type { Secret } from '../../api/client/secret.ts';
import type { ClientSpec } from '../../crds/specs.ts';

/** Schedule by which a generated secret is replaced; times and durations in milliseconds. */
export interface Rotation {
  readonly every: number | undefined;
  readonly at: number | undefined;
  /** Time that the old secret stays valid next to the new one. */
  readonly overlap: number;
}

/** A generated secret as it is kept; times in milliseconds since 1970. */
export interface KeptSecret {
  /** The secret that applications read. */
  readonly value: Secret;
  readonly made: number;
  /** The next secret, already generated, and shown to nobody before the API has it. */
  readonly next?: Secret;
  /** The secret that applications read before. */
  readonly previous?: PreviousSecret;
}

/** A secret that is valid next to the current one until a time. */
export interface PreviousSecret {
  /** Absent: only the API has it, as a hash. */
  readonly value?: Secret;
  readonly until: number;
}

/** The API's record of the use of a client's secrets; times in milliseconds since 1970. */
export interface SecretUsage {
  readonly lastToken: number | undefined;
  readonly previousLastUsed: number | undefined;
}

/** Input for the next state of a generated secret. */
export interface SecretSituation {
  /** The stored secret; `value` undefined: it has none of ours. Undefined: nothing is stored. */
  readonly found: (Omit<KeptSecret, 'value'> & { readonly value: Secret | undefined }) | undefined;
  /** The secret as this process last knew it. */
  readonly last: KeptSecret | undefined;
  /** The secret that the API is known to have for the client. */
  readonly applied: Secret | undefined;
  /** Checks whether the client had a secret that nobody remembers; called if nothing is known. */
  readonly hadGeneratedSecret: () => boolean;
  readonly rotation: Rotation;
  /** Undefined if it was not read. */
  readonly usage: SecretUsage | undefined;
  readonly now: number;
}

/** Change of a generated secret; `renewed`: the stored one was no longer a secret of ours. */
export type SecretChange = 'none' | 'made' | 'renewed' | 'taken' | 'staged' | 'rotated' | 'retired';

/** Milliseconds: a shorter period counts as this one, or a few Clients would keep the API server busy with writes. */
const shortestPeriod = 3_600_000;

/** Returns the rotation of a Client; without one only a change by hand makes two secrets valid. */
export function rotationOf({ rotation }: Pick<ClientSpec, 'rotation'>): Rotation {
  const { every, at, overlap = '1h' } = rotation ?? {};
  return {
    every: every === undefined ? undefined : Math.max(shortestPeriod, secondsOf(every) * 1000),
    at: at === undefined ? undefined : Date.parse(at),
    overlap: secondsOf(overlap) * 1000,
  };
}

/**
 * Decides the next state of a generated secret. It changes in three steps, so that whatever an application reads is
 * valid at any time: a new one is staged next to the old; once the API has both, applications are shown the new one;
 * the old one retires at its deadline, or when it is no longer used. One step at a time. Pure, except for `generate`.
 */
export function nextSecret(
  situation: SecretSituation,
  generate: () => Secret,
): { readonly kept: KeptSecret; readonly change: SecretChange } {
  const { found, last, hadGeneratedSecret, rotation, now } = situation;
  if (found?.value === undefined) {
    const change = found === undefined ? 'made' : 'renewed';
    // A secret that the API does not know is shown to nobody: the last one is restored first, with the new one staged.
    if (last !== undefined) return { kept: { ...last, next: last.next ?? generate() }, change };
    const previous = hadGeneratedSecret() ? { previous: { until: now + rotation.overlap } } : {};
    return { kept: { value: generate(), made: now, ...previous }, change };
  }
  const kept: KeptSecret = { ...found, value: found.value };
  if (last !== undefined && !follows(kept, last)) {
    return {
      kept: { value: kept.value, made: now, previous: { value: last.value, until: now + rotation.overlap } },
      change: 'taken',
    };
  }
  return rotated(kept, situation, generate);
}

function rotated(
  kept: KeptSecret,
  { applied, rotation, usage, now }: SecretSituation,
  generate: () => Secret,
): { readonly kept: KeptSecret; readonly change: SecretChange } {
  const { value, made, next, previous } = kept;
  if (next !== undefined) {
    if (applied?.reveal() !== next.reveal()) return { kept, change: 'none' };
    return { kept: { value: next, made: now, previous: { value, until: now + rotation.overlap } }, change: 'rotated' };
  }
  if (previous !== undefined) {
    return mayRetire(previous, made, usage, now)
      ? { kept: { value, made }, change: 'retired' }
      : { kept, change: 'none' };
  }
  const due = dueAt(made, rotation);
  if (due === undefined || due > now) return { kept, change: 'none' };
  return { kept: { ...kept, next: generate() }, change: 'staged' };
}

/** Checks whether a secret is the successor that rotation gives the last one, no matter which operator rotated it. */
function follows({ value, previous }: KeptSecret, last: KeptSecret): boolean {
  const former = last.value.reveal();
  return value.reveal() === former || previous?.value?.reveal() === former;
}

/**
 * Checks whether the old secret may retire: at its deadline, or if the new one has been used and the old one has not
 * for half of its overlap. By then a client that read it late has come, or never will.
 */
function mayRetire({ until }: PreviousSecret, made: number, usage: SecretUsage | undefined, now: number): boolean {
  if (until <= now) return true;
  if (usage?.lastToken === undefined) return false;
  const { lastToken, previousLastUsed } = usage;
  const used = previousLastUsed === undefined ? made : Math.max(made, previousLastUsed + usageGrain);
  return lastToken > used && now - used >= (until - made) / 2;
}

/** Precision of the API's time of use of a previous secret, in milliseconds: it may have been used that much later. */
const usageGrain = 60_000;

function dueAt(made: number, { every, at }: Rotation): number | undefined {
  const times = [
    ...(every === undefined ? [] : [made + every]),
    // A secret that was generated after that time has been rotated, or never needed it.
    ...(at === undefined || made >= at ? [] : [at]),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Number of checks during an overlap whether the old secret is still used. */
const looks = 12;
const leastWait = 1_000;

/** Returns when a generated secret is checked next, in milliseconds since 1970; undefined: on a change. */
export function nextLook({ made, next, previous }: KeptSecret, rotation: Rotation, now: number): number | undefined {
  // Rotation continues once the next secret is applied.
  if (next !== undefined) return undefined;
  if (previous === undefined) return dueAt(made, rotation);
  return Math.min(previous.until, now + Math.max(leastWait, (previous.until - made) / looks));
}

import { secondsOf } from '../crds/duration.ts';
import type { Secret } from '../api/client/secret.ts';
import type { ClientSpec } from '../crds/specs.ts';

/** When a generated secret makes place for the next one; times and lengths in milliseconds. */
export interface Rotation {
  readonly every: number | undefined;
  readonly at: number | undefined;
  /** How long the old secret is valid beside the new one. */
  readonly overlap: number;
}

/** A generated secret as it is kept; times in milliseconds since 1970. */
export interface KeptSecret {
  /** What applications read. */
  readonly value: Secret;
  readonly made: number;
  /** Made already, and shown to nobody before the API knows it. */
  readonly next?: Secret;
  /** What applications have read before. */
  readonly previous?: PreviousSecret;
}

/** A secret that is valid beside the present one until a time. */
export interface PreviousSecret {
  /** Absent: only the API has it, and only its hash. */
  readonly value?: Secret;
  readonly until: number;
}

/** What the API knows of the use of a client's secrets; times in milliseconds since 1970. */
export interface SecretUsage {
  readonly lastToken: number | undefined;
  readonly previousLastUsed: number | undefined;
}

/** What is known of a generated secret when it is decided what becomes of it. */
export interface SecretSituation {
  /** As it lies there; `value` undefined: there is none of ours in it. Undefined: nothing is there. */
  readonly found: (Omit<KeptSecret, 'value'> & { readonly value: Secret | undefined }) | undefined;
  /** As this process knew it last. */
  readonly last: KeptSecret | undefined;
  /** What the API is known to have for the client's secret. */
  readonly applied: Secret | undefined;
  /** Whether the client had one that nobody remembers; asked where nothing is known. */
  readonly hadSecret: () => boolean;
  readonly rotation: Rotation;
  /** Undefined where nobody asked. */
  readonly usage: SecretUsage | undefined;
  readonly now: number;
}

/** What became of a generated secret; `renewed`: what was there is no secret of ours any more. */
export type SecretChange = 'none' | 'made' | 'renewed' | 'taken' | 'staged' | 'rotated' | 'retired';

/** The rotation of a Client; without one only a change by hand makes two secrets valid. */
export function rotationOf({ rotation }: Pick<ClientSpec, 'rotation'>): Rotation {
  const { every, at, overlap = '1h' } = rotation ?? {};
  return {
    every: every === undefined ? undefined : secondsOf(every) * 1000,
    at: at === undefined ? undefined : Date.parse(at),
    overlap: secondsOf(overlap) * 1000,
  };
}

/**
 * What a generated secret is to be from now on. It changes in three steps, so that whatever an application reads, and
 * whenever it does, is valid: a new one is staged beside the old; once the API takes both, applications are shown the
 * new one; the old one retires at its deadline, or when it is no longer used. One step at a time. Pure, but for `generate`.
 */
export function nextSecret(
  situation: SecretSituation,
  generate: () => Secret,
): { readonly kept: KeptSecret; readonly change: SecretChange } {
  const { found, last, hadSecret, rotation, now } = situation;
  if (found?.value === undefined) {
    const change = found === undefined ? 'made' : 'renewed';
    // What the API does not know yet is shown to nobody: what was there comes back first, with the new one behind it.
    if (last !== undefined) return { kept: { ...last, next: last.next ?? generate() }, change };
    const previous = hadSecret() ? { previous: { until: now + rotation.overlap } } : {};
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

/** Whether a secret is what the last one was to become, by whichever operator's hand. */
function follows({ value, previous }: KeptSecret, last: KeptSecret): boolean {
  const former = last.value.reveal();
  return value.reveal() === former || previous?.value?.reveal() === former;
}

/**
 * At the deadline; or when the new secret has been used and the old one has not for half of the time that it was given:
 * whoever read it late has come by then, or does not come.
 */
function mayRetire({ until }: PreviousSecret, made: number, usage: SecretUsage | undefined, now: number): boolean {
  if (until <= now) return true;
  if (usage?.lastToken === undefined) return false;
  const { lastToken, previousLastUsed } = usage;
  const used = previousLastUsed === undefined ? made : Math.max(made, previousLastUsed + usageGrain);
  return lastToken > used && now - used >= (until - made) / 2;
}

/** The API tells the use of a previous secret to the minute: it may have been used so much later. */
const usageGrain = 60_000;

function dueAt(made: number, { every, at }: Rotation): number | undefined {
  const times = [
    ...(every === undefined ? [] : [made + every]),
    // A secret that was made after that time has been rotated, or never needed it.
    ...(at === undefined || made >= at ? [] : [at]),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** So many times in an overlap it is asked whether the old secret is still used. */
const looks = 12;
const leastWait = 1_000;

/** When a generated secret is to be looked at again, in milliseconds since 1970; undefined: when something changes. */
export function nextLook({ made, next, previous }: KeptSecret, rotation: Rotation, now: number): number | undefined {
  // It goes on once it is applied.
  if (next !== undefined) return undefined;
  if (previous === undefined) return dueAt(made, rotation);
  return Math.min(previous.until, now + Math.max(leastWait, (previous.until - made) / looks));
}

/** A Lease as it was found: holder, duration and version. */
export interface Lease {
  /** Identity of the leader; empty if the Lease was released. */
  readonly holder: string;
  /** Seconds that it is valid after its last renewal. */
  readonly seconds: number;
  /** Changes with every write. */
  readonly version: string;
}

/** Store of the Lease. Calls throw KubeError, or the signal's reason. */
export interface LeaseStore {
  /** Returns the Lease; undefined if there is none. */
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** Writes a holder over the found Lease (undefined: creates one); returns undefined if it has changed since. */
  write(found: Lease | undefined, holder: string, signal: AbortSignal): Promise<Lease | undefined>;
}

/** A replica's observation of the Lease, by its own clock: times that others wrote into it are not used. */
export interface Sight {
  readonly lease: Lease | undefined;
  /** Time when this version was first seen, in milliseconds of a clock that never goes back. */
  readonly since: number;
  /** True if somebody held it, or may have: it was not missing at the first look. */
  readonly wasHeld: boolean;
}

/** A candidate: its identity, and the prefix of the identities of its own pod, whose earlier processes have ended. */
export interface Candidate {
  readonly identity: string;
  readonly pod: string | undefined;
  /** Minimum duration of a Lease, in milliseconds. */
  readonly duration: number;
}

/** Limit in milliseconds: an edited Lease must not keep everybody out forever. */
const longest = 300_000;

/** Returns the observation after one more look at `now`. */
export function look(before: Sight | undefined, lease: Lease | undefined, now: number): Sight {
  if (before !== undefined && before.lease?.version === lease?.version) return before;
  return { lease, since: now, wasHeld: lease !== undefined || before !== undefined };
}

/** Checks whether a candidate may try to take the Lease at `now`. A deleted one is treated as if it were still held. */
export function mayTake(
  { lease, since, wasHeld }: Sight,
  { identity, pod, duration }: Candidate,
  now: number,
): boolean {
  if (lease === undefined) return !wasHeld || now - since >= duration;
  if (lease.holder === '' || lease.holder === identity) return true;
  if (pod !== undefined && lease.holder.startsWith(`${pod}_`)) return true;
  return now - since >= Math.max(duration, Math.min(lease.seconds * 1000, longest));
}

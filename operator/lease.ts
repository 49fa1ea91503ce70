/** A Lease as it was found: who holds it, for how long, and which version this is. */
export interface Lease {
  /** Identity of the leader; empty: it was released. */
  readonly holder: string;
  /** Seconds that it counts after its last renewal. */
  readonly seconds: number;
  /** Every write makes another one. */
  readonly version: string;
}

/** Where the Lease is kept. Calls throw KubeError, or the signal's reason. */
export interface LeaseStore {
  /** The Lease; undefined when there is none. */
  read(signal: AbortSignal): Promise<Lease | undefined>;
  /** Writes a holder over what was found (undefined: makes the Lease); undefined when it is not as it was found any more. */
  write(found: Lease | undefined, holder: string, signal: AbortSignal): Promise<Lease | undefined>;
}

/** What a replica has seen of the Lease, by its own clock: times that others wrote into it say nothing. */
export interface Sight {
  readonly lease: Lease | undefined;
  /** Since when it is as it is, in milliseconds of a clock that never goes back. */
  readonly since: number;
  /** Somebody held it, or may have: it was not missing when first looked for. */
  readonly wasHeld: boolean;
}

/** Who asks: its identity, and the beginning of the identities of its own pod, whose earlier processes have ended. */
export interface Candidate {
  readonly identity: string;
  readonly pod: string | undefined;
  /** Milliseconds that a Lease counts at least. */
  readonly duration: number;
}

/** An edited Lease must not keep everybody out for ever. */
const longest = 300_000;

/** What is seen after one more look at `now`. */
export function look(before: Sight | undefined, lease: Lease | undefined, now: number): Sight {
  if (before !== undefined && before.lease?.version === lease?.version) return before;
  return { lease, since: now, wasHeld: lease !== undefined || before !== undefined };
}

/** Whether a candidate may try to take the Lease at `now`. One that was deleted counts as if it were still held. */
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

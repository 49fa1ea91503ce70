import type { CountedEvents } from '../../audit/counted-events.ts';
import { createFailureSlot } from '../../credentials/failure-slot.ts';
import type { FailureSlot } from '../../credentials/failure-slot.ts';
import type { Connections } from '../../db/core/pool.ts';
import { createKnownNetworks } from './known-networks.ts';
import type { KnownNetworks } from './known-networks.ts';
import { createSharedFailures } from './failures-of-all-replicas.ts';
import type { SharedFailures } from './failures-of-all-replicas.ts';
import type { Throttle } from './throttle.ts';

/** The limits on guesses at passwords: of this replica, and of all of them together. */
export interface PasswordLimits {
  readonly throttle: Pick<Throttle, 'passwords' | 'proven' | 'addresses'>;
  /** Counted in periods of 15 minutes. */
  readonly shared: SharedFailures;
  readonly slot: FailureSlot;
  readonly networks: KnownNetworks;
  /** Failures in 15 minutes of one account from all addresses, and of one proof. */
  readonly perAccount: number;
  readonly events: Pick<CountedEvents, 'note'>;
}

/** Dependencies of {@link createPasswordLimits}. */
export interface PasswordLimitsOptions {
  readonly throttle: Throttle;
  readonly pool: Connections;
  /** The newest key of the installation. */
  readonly key: Buffer;
  readonly perAccount: number;
  readonly events: Pick<CountedEvents, 'note'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Creates the limits on guesses at passwords. */
export function createPasswordLimits(options: PasswordLimitsOptions): PasswordLimits {
  const { throttle, pool, key, perAccount, events, now } = options;
  const networks = createKnownNetworks(pool, now);
  const shared = createSharedFailures(pool, quarterHour, now);
  return { throttle, shared, slot: createFailureSlot(key), networks, perAccount, events };
}

/** Milliseconds. */
const quarterHour = 15 * 60_000;

import { setNewest } from '../../../process/set-newest.ts';
import { networkOf } from './network-of.ts';

/** The addresses that authenticated a client in the last day, in the memory of this replica. */
export interface KnownAddresses {
  has(box: string, client: string, address: string): boolean;
  add(box: string, client: string, address: string): void;
}

/** Milliseconds. */
const day = 24 * 3_600_000;

/** Addresses of all clients; beyond that the one that authenticated least recently is removed. */
const mostAddresses = 100_000;

/** Creates an empty set of known addresses; `now` is in milliseconds. */
export function createKnownAddresses(now: () => number): KnownAddresses {
  const seen = new Map<string, number>();

  return {
    has(box, client, address) {
      const last = seen.get(keyOf(box, client, address));
      return last !== undefined && now() - last < day;
    },
    add(box, client, address) {
      setNewest(seen, keyOf(box, client, address), now(), mostAddresses);
    },
  };
}

function keyOf(box: string, client: string, address: string): string {
  return `${box} ${client} ${networkOf(address)}`;
}

import type { Connections } from '../../db/core/pool.ts';
import { inBox } from '../../db/core/transaction.ts';
import { storeNetwork } from '../../db/user/user-write.ts';
import type { SignInNetworks } from '../../db/user/user.ts';
import { networkOf } from './network-of.ts';

/** The networks that signed in to an account in the last 30 days, at most five of them. */
export interface KnownNetworks {
  has(networks: SignInNetworks, address: string): boolean;
  /** Stores that an address signed in to an account, at most once an hour for each network. Throws Outage. */
  add(box: string, account: { readonly user: { readonly id: number } } & SignedInFrom, address: string): Promise<void>;
}

/** The networks that are stored for a user; undefined if the password is not that of a sign-in. */
interface SignedInFrom {
  readonly networks?: SignInNetworks | undefined;
}

/** Creates the known networks, which are stored with the users; `now` is in milliseconds since 1970. */
export function createKnownNetworks(pool: Connections, now: () => number): KnownNetworks {
  const seconds = (): number => Math.floor(now() / 1000);
  const isWithin = (networks: SignInNetworks, network: string, limit: number): boolean =>
    seconds() - (networks[network] ?? -Infinity) < limit;

  return {
    has: (networks, address) => isWithin(networks, siteOf(address), month),
    async add(box, { user, networks }, address) {
      const network = siteOf(address);
      if (networks === undefined || isWithin(networks, network, hour)) return;
      const proven = { user: user.id, network, at: seconds() };
      await inBox(pool, box, 'write', (connection) => storeNetwork(connection, box, proven));
    },
  };
}

/** Returns the network of a home or an office, whose address may change: the /24 of IPv4, the /64 of IPv6. */
export function siteOf(address: string): string {
  return networkOf(address).replace(/\.\d+$/, '.0/24');
}

/** Seconds. */
const hour = 3_600;
const month = 30 * 24 * hour;

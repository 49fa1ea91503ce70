import type { AuditTrail, Origin } from '../../audit/audit-trail.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import { networkOf } from '../../ip-address.ts';
import type { Throttle } from './throttle.ts';

/**
 * Returns the sharer of argon2 for a request: its box and address. Addresses with recent failures, in any box, share
 * one part of the threads: a flood through many boxes takes the part of one box, and delays no account or box.
 */
export function hashSharer({ addresses }: Pick<Throttle, 'addresses'>, box: string, address: string): Sharer {
  const isFailing = addresses.tries('', '', address) > triesOfAnybody;
  return { box: isFailing ? failingAddresses : box, member: networkOf(address) };
}

/** Returns the services of a request: its hashes use its own share of argon2, its changes are recorded in its name. */
export function servicesOf(services: OAuthServices, sharer: Sharer, origin: Origin): RequestServices {
  const { secrets, passwords } = services;
  return {
    ...services,
    trail: services.trailOf(origin),
    secrets: { ...secrets, store: (secret) => secrets.store(secret, sharer) },
    passwords: { ...passwords, store: (password) => passwords.store(password, sharer) },
  };
}

/** Services of one request. */
export type RequestServices = OAuthServices & { readonly trail: AuditTrail };

/** Failures a minute, including attempts in progress, of people who mistype their password. */
const triesOfAnybody = 5;

/** Not a possible name of a box: it contains a space. */
const failingAddresses = 'failing addresses';

import { mustAuthenticateForCode } from '../client-auth/client-type.ts';
import type { AuthorizationRequest } from './request/authorization-request.ts';

/**
 * Checks whether something proves the identity of the client that receives the answer: an https address, which nobody
 * else serves, or the authentication that redeeming its code requires. Any program of a device can listen on a loopback
 * address or register a private-use scheme (RFC 8252 §8.6), so a remembered consent must not be used there.
 */
export function isProven({ client, type, place }: Pick<AuthorizationRequest, 'client' | 'type' | 'place'>): boolean {
  return /^https:/i.test(place.redirectUri) || (type === 'code' && mustAuthenticateForCode(client));
}

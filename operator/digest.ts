import { createHmac, hash, type KeyObject } from 'node:crypto';
import { isObject } from '../api/client/apply-answer.ts';
import type { Secret } from '../api/client/secret.ts';

/** The canonical JSON of a value (members sorted by name) as a fingerprint of 128 bits. */
export function fingerprint(value: unknown): string {
  return hash('sha256', JSON.stringify(canonical(value)), 'buffer').toString('base64url', 0, 16);
}

/** What belongs to a digest beside the resource: a secret, none, or the one that the API has kept. */
export type SecretPart = Secret | 'none' | 'kept';

/**
 * The digest that is stored with a row: 128 bits of HMAC-SHA256 over the resource's fingerprint and its secret, hexadecimal. Keyed,
 * because a plain hash over a chosen secret would be a fast hash of it beside the slow one.
 */
export function digestOf(key: KeyObject, content: string, secret: SecretPart): string {
  const part = typeof secret === 'string' ? secret : `secret:${secret.reveal()}`;
  return createHmac('sha256', key).update(`${content}\n${part}`).digest().toString('hex', 0, 16);
}

/** Lists and members are marked apart; members are a list of pairs, so that one called __proto__ stays a member. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(canonical)];
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return ['{', ...names.map((name) => [name, canonical(value[name])])];
}

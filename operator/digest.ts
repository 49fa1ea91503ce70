import { createHmac, hash, type KeyObject } from 'node:crypto';
import { isObject } from '../api/client/apply-answer.ts';
import type { Secret } from '../api/client/secret.ts';
import type { PreviousSecret } from './rotation.ts';

/** The canonical JSON of a value (members sorted by name) as a fingerprint of 128 bits. */
export function fingerprint(value: unknown): string {
  return hash('sha256', JSON.stringify(canonical(value)), 'buffer').toString('base64url', 0, 16);
}

/** What belongs to a digest beside the resource: a secret, and one that is valid beside it; none; the one that the API has kept. */
export type SecretPart = { readonly value: Secret; readonly previous?: PreviousSecret } | 'none' | 'kept';

/**
 * The digest that is stored with a row: 128 bits of HMAC-SHA256 over the resource's fingerprint and its secret, hexadecimal. Keyed,
 * because a plain hash over a chosen secret would be a fast hash of it beside the slow one.
 */
export function digestOf(key: KeyObject, content: string, secret: SecretPart): string {
  return createHmac('sha256', key)
    .update(`${content}\n${partText(secret)}`)
    .digest()
    .toString('hex', 0, 16);
}

function partText(secret: SecretPart): string {
  if (typeof secret === 'string') return secret;
  const { value, previous } = secret;
  const beside =
    previous === undefined ? '' : `\nprevious:${previous.value?.reveal() ?? ''}\n${String(previous.until)}`;
  return `secret:${value.reveal()}${beside}`;
}

/** Lists and members are marked apart; members are a list of pairs, so that one called __proto__ stays a member. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(canonical)];
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return ['{', ...names.map((name) => [name, canonical(value[name])])];
}

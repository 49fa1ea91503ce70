import { isObject } from '../../crds/path.ts';
import { createHmac, hash, type KeyObject } from 'node:crypto';
import type { Secret } from '../../api/client/secret.ts';
import type { PreviousSecret } from '../secrets/rotation.ts';

/** Returns a fingerprint of 128 bits of the canonical JSON of a value (members sorted by name). */
export function fingerprint(value: unknown): string {
  return hash('sha256', JSON.stringify(canonical(value)), 'buffer').toString('base64url', 0, 16);
}

/** Secret part of a digest: a secret, with the previous one while valid; none; or the one that the API has kept. */
export type SecretPart = { readonly value: Secret; readonly previous?: PreviousSecret } | 'none' | 'kept';

/**
 * Returns the digest that is stored with a row: 128 bits of HMAC-SHA256 over the resource's fingerprint and its secret,
 * hexadecimal. It is keyed, because a plain hash over a chosen secret would be a fast hash of it next to the slow one.
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

/** Marks lists and objects differently; members become a list of pairs, so that one called __proto__ stays a member. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['[', ...value.map(canonical)];
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return ['{', ...names.map((name) => [name, canonical(value[name])])];
}

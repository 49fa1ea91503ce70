import { createPrivateKey, sign } from 'node:crypto';
import { makeSessionId } from '../../../api/credentials/token-text.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { uuidText } from '../../../program/text.ts';
import { createKeyRing, sealedFor } from '../../../api/box/key-ring.ts';
import { keyRow, sampleSealing } from '../../box/sample-changes.ts';

/** The issuer of the sample tokens. */
export const issuer = 'https://boxgate.test/boxes/default';
/** Milliseconds since 1970. */
export const now = 1_700_000_000_000;
/** The same in seconds, when the sample tokens are issued. */
export const seconds = now / 1000;
/** The row of the key that signs them. */
export const row = keyRow('our-key');
/** The keys of the box. */
export const ring = createKeyRing([row], sampleSealing, 'default');
/** The private part of the key. */
export const ours = createPrivateKey({
  key: sampleSealing.open(row.privateKey, sealedFor('default', 'our-key')),
  format: 'der',
  type: 'pkcs8',
});
/** The session of the claims. */
export const id = makeSessionId(bucketOf(seconds, seconds + 300), now);

/** The header of an access token. */
export const header = { alg: 'ES256', typ: 'at+jwt', kid: 'our-key' };
/** The claims of an access token that is valid for five minutes. */
export const claims = {
  iss: issuer,
  sub: 'app',
  client_id: 'app',
  aud: issuer,
  iat: seconds,
  exp: seconds + 300,
  jti: uuidText(id),
};

/** A token of any header and claims, truly signed with our key. */
export function signed(over: { header?: object; claims?: object; key?: typeof ours } = {}): string {
  return signedText(
    JSON.stringify({ ...header, ...over.header }),
    JSON.stringify({ ...claims, ...over.claims }),
    over.key,
  );
}

/** Returns a token of this text, signed with a key. */
export function signedText(head: string, payload: string, key = ours): string {
  const text = `${base64url(head)}.${base64url(payload)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** Returns a part of a token. */
export function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

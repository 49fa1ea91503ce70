import { createHmac } from 'node:crypto';
import { deriveKey } from './key-sealing.ts';
import { equal } from './client-secret.ts';

/** A user of a box, as a client of that box knows them. */
export interface HintedUser {
  readonly box: string;
  /** ID of the client. */
  readonly client: string;
  /** ID of the user. */
  readonly user: number;
}

/** Creates and verifies the text that names a user in an address, which must not contain an id_token. */
export interface UserHints {
  /** Returns a text that names the user to this client only, in characters that need no escape in an address. */
  make(about: HintedUser): string;
  /** Returns the ID of the user whom a text names; undefined when this installation did not make it for this client. */
  find(text: string, about: Omit<HintedUser, 'user'>): number | undefined;
}

/** A user ID without leading zeros and an HMAC-SHA256 in base64url. */
const shape = /^([1-9]\d{0,14})\.([\w-]{43})$/;

/**
 * Creates user hints under the keys of the installation, the newest first. The HMAC keeps a client from asking with any
 * user ID whether that user is the one who is signed in.
 */
export function createUserHints(installationKeys: readonly [Buffer, ...Buffer[]]): UserHints {
  const [newest, ...older] = installationKeys;
  const current = hintKey(newest);
  const keys = [current, ...older.map(hintKey)];
  return {
    make: (about) => `${String(about.user)}.${macOf(current, about)}`,
    find(text, { box, client }) {
      const [, id, mac = ''] = shape.exec(text) ?? [];
      const user = Number(id);
      return keys.some((key) => equal(mac, macOf(key, { box, client, user }))) ? user : undefined;
    },
  };
}

function hintKey(key: Buffer): Buffer {
  return deriveKey(key, 'user hint');
}

function macOf(key: Buffer, { box, client, user }: HintedUser): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([box, client, user]))
    .digest('base64url');
}

import { createHmac } from 'node:crypto';
import type { StoredPassword } from '../db/user.ts';
import { deriveKey } from './key-sealing.ts';
import { equal } from './client-secret.ts';
import { fillRandom } from './token-text.ts';

/** An account that a browser has signed in to. */
export interface DeviceAccount {
  readonly box: string;
  /** ID of the user. */
  readonly user: number;
  /** A proof is valid as long as the password under which it was created. */
  readonly password: StoredPassword;
}

/** Creates and verifies the text by which a browser proves that it has signed in to an account before. */
export interface DeviceTokens {
  /** Returns the text of a browser, '' for none, with a new proof for an account in front. */
  add(text: string, account: DeviceAccount): string;
  /** Returns the ID of the proof for an account; undefined when the text holds none of the last 30 days. */
  find(text: string, account: DeviceAccount): string | undefined;
}

/** Accounts of one browser; beyond that the one that signed in least recently is removed. */
const mostAccounts = 5;

/** Seconds for which a proof is valid: 30 days. */
export const proofLifetime = 30 * 24 * 3_600;

/** A proof: an ID, which holds its time and 96 random bits, and an HMAC-SHA256, both in base64url. */
const shape = /^[\w-]{65}$/;
const idLength = 22;

/**
 * Creates device tokens under the keys of the installation, the newest first. A token names no user, and needs no row
 * of its own: it is verified with the row of the user who signs in. `now` is in milliseconds since 1970.
 */
export function createDeviceTokens(installationKeys: readonly [Buffer, ...Buffer[]], now: () => number): DeviceTokens {
  const [newest, ...older] = installationKeys;
  const current = deviceKey(newest);
  const keys = [current, ...older.map(deviceKey)];
  const seconds = (): number => Math.floor(now() / 1000);

  function isProof(id: string, mac: string, account: DeviceAccount): boolean {
    return keys.some((key) => equal(mac, macOf(key, id, account)));
  }

  return {
    add(text, account) {
      const others = proofsIn(text).filter(({ id, mac }) => !isProof(id, mac, account));
      const id = newId(seconds());
      const all = [{ id, mac: macOf(current, id, account) }, ...others];
      return all
        .slice(0, mostAccounts)
        .map((proof) => proof.id + proof.mac)
        .join('.');
    },
    find: (text, account) =>
      proofsIn(text).find(({ id, mac }) => seconds() - timeOf(id) < proofLifetime && isProof(id, mac, account))?.id,
  };
}

function deviceKey(key: Buffer): Buffer {
  return deriveKey(key, 'device token');
}

function proofsIn(text: string): readonly { readonly id: string; readonly mac: string }[] {
  return text
    .split('.', mostAccounts)
    .filter((part) => shape.test(part))
    .map((part) => ({ id: part.slice(0, idLength), mac: part.slice(idLength) }));
}

function macOf(key: Buffer, id: string, { box, user, password }: DeviceAccount): string {
  const text = JSON.stringify([id, box, user, password.hash]);
  return createHmac('sha256', key).update(text).digest('base64url');
}

function newId(seconds: number): string {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUInt32BE(seconds);
  fillRandom(bytes, 4, 12);
  return bytes.toString('base64url');
}

/** Returns the time of a proof by its ID, in seconds since 1970. */
function timeOf(id: string): number {
  return Buffer.from(id, 'base64url').readUInt32BE();
}

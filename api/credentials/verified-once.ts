import { hash, randomBytes } from 'node:crypto';
import { BoundedMap } from '../../program/bounded-map.ts';

/** Returns what a token was found to be: the remembered result while it is still valid, else that of `verify`. */
export type VerifyOnce<Found> = (
  text: string,
  isStillValid: (found: Found) => boolean,
  verify: () => Promise<Found | undefined>,
) => Promise<Found | undefined>;

/** Remembers the `most` tokens that were verified last, under hashes with a key of this process. */
export function createVerifyOnce<Found>(most: number): VerifyOnce<Found> {
  const processKey = randomBytes(32);
  const remembered = new BoundedMap<Found>(most);
  return async (text, isStillValid, verify) => {
    const mark = hash('sha256', Buffer.concat([processKey, Buffer.from(text, 'utf8')]), 'base64url');
    const known = remembered.get(mark);
    if (known !== undefined && isStillValid(known)) return known;
    remembered.delete(mark);
    const found = await verify();
    if (found !== undefined) remembered.setNewest(mark, found);
    return found;
  };
}

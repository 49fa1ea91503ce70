import { randomBytes, randomUUID } from 'node:crypto';
import type { NewRefreshFamily } from '../../../api/db/session/refresh-family.ts';

const hour = 3_600_000;

/** Makes a refresh family of the client `a` in the box `default`, begun at `now` (milliseconds since 1970). */
export function sampleFamily(now: number, over: Partial<NewRefreshFamily> = {}) {
  return {
    box: 'default',
    id: randomUUID(),
    client: 'a',
    user: null,
    grant: 'c' as const,
    authenticatedAt: null,
    version: 3,
    familyHash: digest(),
    tokenHash: digest(),
    session: randomUUID(),
    scope: 'x y',
    audience: ['one', '"two" {3}'],
    createdAt: now,
    expiresAt: now + hour,
    endsAt: now + 24 * hour,
    sessionsEnd: now + 2 * hour,
    ...over,
  };
}

/** Makes a hash of 32 bytes, hexadecimal. */
export function digest(): string {
  return randomBytes(32).toString('hex');
}

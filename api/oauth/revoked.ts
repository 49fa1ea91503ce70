import type { BoxState } from '../box/box-state.ts';

/**
 * Checks whether a box, or a client of it, has revoked something issued under a version of the box, at a time in
 * milliseconds since 1970. Called for every check of a token: it allocates nothing.
 */
export function isRevoked(
  version: number,
  createdAt: number,
  { sessionsFrom, revokedBefore = 0 }: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
): boolean {
  return version < sessionsFrom || createdAt < revokedBefore;
}

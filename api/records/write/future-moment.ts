import type { Fault } from '../../../crds/fault.ts';

/**
 * Returns the fault of a `revoke_sessions_before` in the future: its highest value is final, so it would refuse every
 * token until then, and nobody could undo it. `now` in milliseconds.
 */
export function futureMoment(resource: object, now: number): Fault | undefined {
  const moment = 'revoke_sessions_before' in resource ? resource.revoke_sessions_before : undefined;
  if (typeof moment !== 'string' || Date.parse(moment) <= now) return undefined;
  return { path: 'revoke_sessions_before', message: 'must not lie in the future' };
}

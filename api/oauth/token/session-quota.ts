import { quotaSentence } from '../../../crds/quota.ts';
import type { BoxState } from '../../state/box-state.ts';
import { OAuthError } from '../oauth-error.ts';
import { TRY_AGAIN } from './session-limit.ts';

/**
 * Returns the refusal of a session beyond the quota of its box; undefined while the box has room. RFC 6749 §5.2 has no
 * code for it. `slow_down` keeps clients from discarding their credentials, as they do at `invalid_grant`; 422 is the
 * status of every stored thing beyond its quota.
 */
export function sessionQuotaRefusal({ sessionsFull, quota }: QuotaState): OAuthError | undefined {
  if (!sessionsFull) return undefined;
  const message = `One more session ${quotaSentence('sessions', quota.sessions)}`;
  return new OAuthError('slow_down', message, { status: 422, retryAfter: TRY_AGAIN });
}

/** Throws the refusal of {@link sessionQuotaRefusal} if the box has no room. */
export function demandSessionQuota(state: QuotaState): void {
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) throw refusal;
}

type QuotaState = Pick<BoxState, 'sessionsFull' | 'quota'>;

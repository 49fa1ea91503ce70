import type { Origin } from '../audit/audit-trail.ts';
import type { AuditEventName } from '../audit/events.ts';
import type { AuthenticationContext } from './client-auth/context.ts';

/** A credential that came again and should not have: somebody else may have it. */
export interface Reuse {
  readonly event: Extract<AuditEventName, 'refresh_token.reused' | 'code.reused' | 'service_account.created_again'>;
  /** The client that the credential is of. */
  readonly client: string;
  /** The client that presented it, unless it did not authenticate, and the user that the credential is of. */
  readonly by: Pick<Origin, 'client' | 'user'>;
}

/** Counts a reuse for the audit trail, with the address and the request ID of the request that it came with. */
export function reportReuse(
  { event, client, by }: Reuse,
  { state, services, checks }: Pick<AuthenticationContext, 'state' | 'services' | 'checks'>,
): void {
  const { remoteAddr, requestId } = checks.caller ?? {};
  const origin = { ...by, remoteAddr: remoteAddr === '' ? undefined : remoteAddr, requestId };
  services.countedEvents.note({ box: state.box, event, result: 'failure', target: `Client/${client}`, origin });
}

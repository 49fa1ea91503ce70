import type { Origin } from '../../audit/audit-trail.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';

/** A request as its records name it; the address is undefined if it is unknown. */
export interface RequestOrigin {
  readonly remoteAddr: string | undefined;
  readonly requestId?: string | undefined;
}

/** Returns the origin of an event: the subject of the token, if there is one, and the request. */
export function originOf({ remoteAddr, requestId }: RequestOrigin, session: LiveSession | undefined): Origin {
  const [client, user] = [session?.client.id, session?.user?.id];
  return { client, user, remoteAddr, session: session?.id, requestId };
}

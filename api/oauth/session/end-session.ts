import { endFamilies, endFamily, endSession as endStoredSession, endSessions } from '../../db/session/session.ts';
import type { EndedSession, SessionEnd, SessionEnding } from '../../db/session/session.ts';
import { demandStandbyForBox } from '../../db/box/box.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { OAuthServices } from '../services.ts';
import type { IssuedTokens } from '../../db/authorization/authorization-code.ts';

type EndingServices = Pick<OAuthServices, 'pool' | 'now' | 'revocationsNeedStandby'>;

/**
 * Ends a session and its refresh family. After it has returned no replica accepts its token; with a synchronous standby
 * demanded, not even after a failover. Undefined when there is no such session. Throws Outage.
 */
export function endSession(
  box: string,
  id: string,
  as: SessionEnd,
  services: EndingServices,
): Promise<EndedSession | undefined> {
  return ending(box, services, (connection) => endStoredSession(connection, box, id, { as, now: services.now() }));
}

/** Ends a refresh family and its living sessions, in the same way; also when its last session is long gone. */
export function endRefreshFamily(box: string, family: string, as: SessionEnd, services: EndingServices): Promise<void> {
  return ending(box, services, (connection) => endFamily(connection, box, family, { as, now: services.now() }));
}

function ending<T>(box: string, services: EndingServices, work: (connection: Connection) => Promise<T>): Promise<T> {
  return inBox(services.pool, box, 'write', async (connection) => {
    if (services.revocationsNeedStandby) await demandStandbyForBox(connection, box);
    return work(connection);
  });
}

/** Ends the tokens of authorizations: their refresh families with all living sessions, and the sessions without one. */
export async function endTokens(
  connection: Connection,
  box: string,
  issued: readonly IssuedTokens[],
  ending: SessionEnding,
): Promise<void> {
  const families = new Set(issued.flatMap(({ family }) => family ?? []));
  await endFamilies(connection, box, [...families], ending);
  const alone = issued.flatMap(({ session, family }) => (family === null ? [session] : []));
  await endSessions(connection, box, alone, ending);
}

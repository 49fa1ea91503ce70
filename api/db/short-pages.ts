import { auditEventsBefore } from './audit/audit-events-before.ts';
import type { StoredAuditEvent } from './audit/audit-event.ts';
import { batchBounds } from './core/batch-bounds.ts';
import type { PageOfBox, ShortPage } from './core/page-statement.ts';
import { countedPagesOf } from './core/counted-pages.ts';
import type { ReadCountedPage } from './core/counted-pages.ts';
import { newestPages } from './core/newest-pages.ts';
import type { NewestOfBox } from './core/newest-pages.ts';
import type { Connections } from './core/pool.ts';
import { batchesOn } from './core/statement-batches.ts';
import { resourcesAfter } from './resource/resources-after.ts';
import type { ResourcesOfBox } from './resource/resources-after.ts';
import type { StoredResource } from './resource/resource.ts';
import { sessionsBefore } from './session/sessions-before.ts';
import type { NewestSessionsOfBox } from './session/sessions-before.ts';
import type { SessionRecord } from './session/record.ts';
import { grantsAfter } from './user/grants-after.ts';
import type { GrantsOfBox } from './user/grants-after.ts';
import { groupsAfter } from './user/groups-after.ts';
import { usersAfter } from './user/users-after.ts';
import type { StoredGrant } from './user/grant.ts';
import type { StoredGroup } from './user/group.ts';
import type { ListedUser } from './user/user-search.ts';

/** Reads a page of one list. Throws Outage. */
export type ReadPage<Row, Search = PageOfBox> = (search: Search) => Promise<ShortPage<Row>>;

/** Short pages of lists, in the order of the IDs, and of sessions and records of the audit trail, newest first. */
export interface ShortPages {
  readonly resources: ReadPage<StoredResource, ResourcesOfBox>;
  readonly users: ReadPage<ListedUser>;
  readonly groups: ReadPage<StoredGroup>;
  readonly grants: ReadCountedPage<StoredGrant, GrantsOfBox>;
  readonly sessions: ReadCountedPage<SessionRecord, NewestSessionsOfBox>;
  readonly auditEvents: ReadCountedPage<StoredAuditEvent, NewestOfBox>;
}

/** Rows of the longest page that is read with others. */
export const longestShortPage = 100;

/** Pages of one statement: each has at most 32 KB of content. One statement of each list is in flight. */
const bounds = { ...batchBounds, size: 8, inFlight: 1 };

/** The same for lists of which a part is counted, or whose statements are planned for each partition: 16 KB a page. */
const boundsOfCounted = { ...bounds, size: 16 };

/** The same for pages of few rows. */
const boundsOfShort = { ...bounds, size: 32 };

/** The same for pages of which up to 10,000 rows are counted, once for all pages of a box. */
const boundsOfCounting = { ...boundsOfCounted, boxes: 4 };

/** Reads short pages in micro-batches on a pool; `now` in milliseconds since 1970. */
export function createShortPages(pool: Connections, now: () => number): ShortPages {
  const runner = batchesOn(pool, bounds);
  const counted = {
    short: batchesOn(pool, boundsOfShort),
    together: batchesOn(pool, boundsOfCounted),
    counting: batchesOn(pool, boundsOfCounting),
  };
  return {
    resources: runner(resourcesAfter),
    users: runner(usersAfter),
    groups: runner(groupsAfter),
    grants: countedPagesOf(counted, now, grantsAfter),
    sessions: countedPagesOf(counted, now, newestPages(sessionsBefore)),
    auditEvents: countedPagesOf(counted, now, newestPages(auditEventsBefore)),
  };
}

import type { ApplyHead, ApplyLine, ApplyResult } from '../client/desired-state.ts';
import { readConfigChanges } from '../db/box/config-changes.ts';
import type { ConfigChanges } from '../db/box/config-changes.ts';
import { readBinding } from '../db/box/namespace.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { lockResources } from '../db/resource/write.ts';
import type { SessionRecord } from '../db/session/record.ts';
import { applyLines, validateLines } from './apply.ts';
import type { KeyHosts } from './plan.ts';
import { planKey } from './planned-lines.ts';
import type { PlannedLines, StoredRows } from './planned-lines.ts';
import { readActiveSessions, stillActiveSessions } from '../db/session/active-sessions.ts';

/** Clients whose sessions a plan may revoke; undefined: any of the box. */
type AffectedClients = readonly string[] | undefined;

/** Active sessions of the affected clients. */
interface ActiveSessions {
  readonly sessions: readonly SessionRecord[];
  /** True if there are more than were read. */
  readonly more: boolean;
}

/** Limits of one reading: clients that are looked up, and sessions. */
const most = { clients: 2_000, sessions: 1_000 } as const;

/** Reads the active sessions of the clients that a plan affects, up to a limit. `now` in milliseconds since 1970. */
async function activeSessions(
  connection: Connection,
  box: string,
  affected: AffectedClients,
  now: number,
): Promise<ActiveSessions> {
  if (affected?.length === 0) return { sessions: [], more: false };
  const clients = affected?.slice(0, most.clients);
  const found = await readActiveSessions(connection, { box, clients, now, limit: most.sessions + 1 });
  const isCut = affected !== undefined && affected.length > most.clients;
  return { sessions: found.slice(0, most.sessions), more: isCut || found.length > most.sessions };
}

/** Reads the IDs of those sessions that are still active. */
async function stillActive(
  connection: Connection,
  box: string,
  { sessions }: ActiveSessions,
  now: number,
): Promise<ReadonlySet<string>> {
  const left = await stillActiveSessions(connection, box, sessions, now);
  return new Set(left.map(({ id }) => id));
}

/** Dependencies of a dry run. */
export interface DryRunServices {
  readonly pool: Connections;
  readonly clientKeys: KeyHosts;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Reads what else is compared, before and after the changes. Throws Outage. */
export type ReadFacts<Facts> = (connection: Connection) => Promise<Facts>;

/** Effect of the lines of a plan in the transaction that applied them. */
export interface DryRun<Facts> {
  /** Config version of the box before them. */
  readonly version: number;
  readonly results: readonly ApplyResult[];
  readonly changes: ConfigChanges;
  readonly before: Facts;
  readonly after: Facts;
  readonly revoked: readonly SessionRecord[];
  /** Sessions of affected clients that stay as they are in the database. */
  readonly active: readonly SessionRecord[];
  readonly moreSessions: boolean;
}

/** Milliseconds: the box is locked meanwhile, so it is far less than an apply may take. */
const limit = 8_000;

/**
 * Applies the lines of a plan with the code of the operator's apply, reads the effect, and rolls everything back.
 * Undefined if there is no such box. Throws Outage.
 */
export async function dryRun<Facts>(
  { lines, fields }: PlannedLines,
  { box, cluster }: StoredRows,
  readFacts: ReadFacts<Facts>,
  services: DryRunServices,
): Promise<DryRun<Facts> | undefined> {
  const validated = await validateLines(lines, services.now(), services.clientKeys);
  const hashes = new Map(lines.flatMap(secretsOf).map((secret) => [secret, NOT_A_HASH]));
  return rolledBack(services.pool, box, async (connection) => {
    const version = await lockResources(connection, box);
    if (version === undefined) return undefined;
    const now = services.now();
    const clients = affectedClients(lines, fields);
    const before = await readFacts(connection);
    const sessions = await activeSessions(connection, box, clients, now);
    const head = await headOf(connection, box, cluster);
    const applying = { connection, note: () => undefined };
    const ready = { hashes, storeAdmin: undefined, endsAll: true, version } as const;
    const { results } = await applyLines(applying, { box, head, lines }, validated, ready);
    const changes = await readConfigChanges(connection, box, version);
    if (changes === undefined) return undefined;
    const left = await stillActive(connection, box, sessions, now);
    const after = await readFacts(connection);
    return { version, results, changes, before, after, ...compared(sessions, left) };
  });
}

/** Stored form of a secret that no secret has: what is stored here is rolled back. */
const NOT_A_HASH = `$sha256$${'0'.repeat(64)}`;

function secretsOf(line: ApplyLine): readonly string[] {
  return 'resource' in line && 'secret' in line.resource && typeof line.resource.secret === 'string'
    ? [line.resource.secret]
    : [];
}

/** Returns the clients that lines change or delete; undefined if the settings of the box change, which concern all. */
function affectedClients(lines: readonly ApplyLine[], changed: PlannedLines['fields']): AffectedClients {
  if (lines.some(({ kind }) => kind === 'Box')) return undefined;
  return [...new Set(lines.flatMap((line) => (isPresent(line) ? [line.id] : [])))];

  /** A new client has no session. */
  function isPresent(line: ApplyLine): boolean {
    return line.kind === 'Client' && ('delete' in line || changed.has(planKey(line)));
  }
}

/** Returns the head of an apply call of the installation that declares the box. No epoch is claimed for it. */
async function headOf(connection: Connection, box: string, cluster: string): Promise<ApplyHead> {
  const { uid } = await readBinding(connection, box);
  const head = { cluster, epoch: 0, complete: false };
  return uid === undefined ? head : { ...head, namespace: { uid } };
}

function compared(
  before: ActiveSessions,
  left: ReadonlySet<string>,
): Pick<DryRun<unknown>, 'revoked' | 'active' | 'moreSessions'> {
  return {
    revoked: before.sessions.filter(({ id }) => !left.has(id)),
    active: before.sessions.filter(({ id }) => left.has(id)),
    moreSessions: before.more,
  };
}

/** Carries a result out of a transaction that is rolled back. */
class RolledBack<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('rolled back');
    this.result = result;
  }
}

async function rolledBack<T>(pool: Connections, box: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  let rollback: RolledBack<T> | undefined;
  try {
    return await inBoxWithin(pool, box, { mode: 'write', limit }, async (connection) => {
      rollback = new RolledBack(await work(connection));
      throw rollback;
    });
  } catch (error) {
    if (rollback !== undefined && error === rollback) return rollback.result;
    throw error;
  }
}

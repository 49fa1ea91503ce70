import express from 'express';
import type { Express, Request, Response } from 'express';
import type { StoredHosts, StoredSettings, ServiceAccountPins } from '../../client/cluster.ts';
import type {
  Applied,
  ApplyHead,
  ApplyLine,
  BoxUsage,
  ClaimedEpoch,
  DeclaredBoxes,
  LastUses,
  MissingLinks,
  MovedBox,
  NotApplied,
} from '../../client/desired-state.ts';
import { lines as linesOf } from '../../client/ndjson.ts';
import { equal } from '../../credentials/client-secret.ts';
import { Moved, Outage } from '../../db/core/outage.ts';
import type { Connections } from '../../db/core/pool.ts';
import { errorFacts } from '../../../program/log.ts';
import type { Log } from '../../../program/log.ts';
import { createTurns } from '../../../program/scheduling.ts';
import { Problem } from '../../problem.ts';
import { applyBox } from '../../apply/apply.ts';
import type { ApplyServices } from '../../apply/apply.ts';
import { demandEpoch, Fenced, Locked } from '../../apply/claims.ts';
import { acceptLoss, DataMissing } from '../../db/box/placement.ts';
import { followServiceAccounts, boxUsage, lastUses } from '../../apply/calls.ts';
import { claimInAll, declaredInAll, hostsInAll, settingsInAll, underEpoch } from '../../apply/calls-in-all.ts';
import type { Epoch } from '../../apply/calls-in-all.ts';
import { NoSuchDatabase } from '../../placement/databases.ts';
import type { Databases, ServedDatabase } from '../../placement/databases.ts';
import { moveBox } from '../../placement/move.ts';
import { inBox } from '../../db/core/transaction.ts';
import { missingLinks } from '../../db/resource/resource.ts';
import { isBoxName } from '../request/box-address.ts';
import {
  parseApplyLine,
  parseClaim,
  parseHead,
  parseHosts,
  parseLinks,
  parseMove,
  parseQuery,
  parseServiceAccounts,
  parseSettings,
} from './management-lines.ts';
import { addProbes } from '../server/metrics.ts';
import type { Probed } from '../server/metrics.ts';
import type { FailureCount } from '../throttle/throttle.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';

/** A database, as declarations reach it. */
export interface ManagedDatabase extends ServedDatabase {
  readonly pool: Connections;
  readonly apply: ApplyServices;
}

/** Dependencies of the management port. */
export interface ManagementContext extends Probed {
  readonly databases: Databases<ManagedDatabase>;
  /** The valid keys: two, while one is being rotated. */
  readonly keys: readonly string[];
  /** Calls without a valid key, by the address of the peer. */
  readonly keyFailures: FailureCount;
}

/** Creates the management port: desired state in, health and metrics out. */
export function createManagementApp(context: ManagementContext): Express {
  const app = express();
  const { databases } = context;
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
    next();
  });
  addProbes(app, context);
  app.use((request, response, next) => {
    if (isKeyed(request, context.keys)) next();
    else refuseStranger(context, request, response);
  });
  app.post('/epoch', async (request, response) => {
    const { cluster, adopts } = parseClaim(await jsonBody(request, bodyLimits.oauth));
    response.json({ epoch: await claimInAll(databases, cluster, adopts) } satisfies ClaimedEpoch);
  });
  app.put('/settings', async (request, response) => {
    const call = parseSettings(await jsonBody(request, bodyLimits.resource));
    response.json({ version: await settingsInAll(databases, call) } satisfies StoredSettings);
  });
  app.put('/hosts', async (request, response) => {
    response.json((await hostsInAll(databases, parseHosts(await jsonBody(request)))) satisfies StoredHosts);
  });
  app.get('/boxes', async (request, response) => {
    const { cluster } = parseQuery(request.query);
    response.json({ boxes: await declaredInAll(databases, cluster) } satisfies DeclaredBoxes);
  });
  app.get('/boxes/:box/usage', async (request, response) => {
    const of = { after: '', ...parseQuery(request.query), box: boxOf(request) };
    const usage = await inDatabase(databases, of.box, ({ pool, apply: { now } }) => boxUsage(pool, of, now()));
    response.json(usage satisfies BoxUsage);
  });
  app.get('/boxes/:box/last-use', async (request, response) => {
    const [box, { cluster }] = [boxOf(request), parseQuery(request.query)];
    const uses = await inDatabase(databases, box, ({ pool, apply: { now } }) => lastUses(pool, box, cluster, now()));
    response.json(uses satisfies LastUses);
  });
  app.post('/boxes/:box/missing-links', async (request, response) => {
    const box = boxOf(request);
    const { links } = parseLinks(await jsonBody(request));
    const missing = await inDatabase(databases, box, ({ pool }) =>
      inBox(pool, box, 'snapshot', (connection) => missingLinks(connection, box, links)),
    );
    response.json({ missing } satisfies MissingLinks);
  });
  app.post('/boxes/:box/service-accounts', async (request, response) => {
    const box = boxOf(request);
    const call = parseServiceAccounts(await jsonBody(request));
    const follow = ({ apply: services }: ManagedDatabase) => followServiceAccounts(box, call, services);
    const pins = await inDatabase(databases, box, follow, call);
    response.json({ pins } satisfies ServiceAccountPins);
  });
  app.post('/boxes/:box/move', async (request, response) => {
    const call = parseMove(await jsonBody(request, bodyLimits.oauth));
    await moveBox(databases, { box: boxOf(request), ...call });
    response.json({ database: call.database, moved: true } satisfies MovedBox);
  });
  app.post('/boxes/:box/apply', (request, response) => apply(context, request, response));
  app.use((_request, response) => void response.status(404).json(refusedBody('there is nothing at this address')));
  app.use((error: unknown, _request: Request, response: Response, _next: unknown) => {
    const { status, body } = failure(error, context.log);
    if (response.headersSent || response.destroyed) response.destroy();
    else response.status(status).json(body);
  });
  return app;
}

/** Checks that no admin has to accept first what a restored backup has left of a box. Throws DataMissing, Outage. */
async function demandData(
  { versionOf }: Pick<ManagementContext['databases'], 'versionOf'>,
  { pool, restoredAt }: ManagedDatabase,
  box: string,
  { cluster, epoch, namespace }: ApplyHead,
): Promise<void> {
  if (restoredAt() === 0) return;
  await inBox(pool, box, 'write', async (connection) => {
    await demandEpoch(connection, cluster, epoch);
    await acceptLoss(connection, box, {
      restoredAt: restoredAt(),
      placedAt: versionOf(box),
      accepted: namespace?.accept_data_loss,
    });
  });
}

/**
 * Runs a call with the database of its box, which hears of its epoch first; again with another one if the box has been
 * moved.
 */
async function inDatabase<T>(
  databases: Databases<ManagedDatabase>,
  box: string,
  work: (database: ManagedDatabase) => Promise<T>,
  epoch?: Epoch,
): Promise<T> {
  const run = (database: ManagedDatabase): Promise<T> =>
    epoch === undefined ? work(database) : underEpoch(databases, database, epoch, () => work(database));
  try {
    return await run(databases.of(box));
  } catch (error) {
    if (!(error instanceof Moved)) throw error;
    databases.moved(box, error);
    return run(databases.of(box));
  }
}

function isKeyed(request: Request, keys: readonly string[]): boolean {
  const [, sent] = /^bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
  return sent !== undefined && keys.some((key) => equal(key, sent));
}

/**
 * Refuses a call without a valid key, without waiting for its body. A valid key is never refused because of failures of
 * others at its address: a stranger there must not block the operator.
 */
function refuseStranger({ keyFailures, log }: ManagementContext, request: Request, response: Response): void {
  const peer = request.socket.remoteAddress ?? '';
  if (!keyFailures.allows('', '', peer)) {
    const later = { 'Retry-After': String(keyFailures.retryAfter), Connection: 'close' };
    response.status(429).set(later).json(refusedBody('too many calls without a valid management key; try again later'));
    return;
  }
  keyFailures.failed('', '', peer);
  log.warn({ peer }, 'a call of the management port had no valid key');
  const challenge = { 'WWW-Authenticate': 'Bearer realm="management"', Connection: 'close' };
  response.status(401).set(challenge).json(refusedBody('a management key is needed'));
}

/** Returns the body for a call that is wrong in itself: whoever sent it must change it. */
function refusedBody(error: string): NotApplied {
  return { error, code: 'refused' };
}

function failure(error: unknown, log: Log): { status: number; body: NotApplied } {
  if (error instanceof Fenced) return { status: 409, body: { error: error.message, code: 'fenced' } };
  if (error instanceof Locked) {
    return { status: 409, body: { error: error.message, code: 'locked', bound: error.bound } };
  }
  if (error instanceof DataMissing) return { status: 409, body: { error: error.message, code: 'data-missing' } };
  if (error instanceof NoSuchDatabase) return { status: 400, body: { error: error.message, code: 'unknown-database' } };
  if (error instanceof Outage || (error instanceof Problem && error.code === 'unavailable'))
    return { status: 503, body: { error: error.message, code: 'unavailable' } };
  if (error instanceof Problem) return { status: 400, body: refusedBody(error.message) };
  if (error instanceof URIError)
    return { status: 400, body: refusedBody('the path is not percent-encoded UTF-8 text') };
  log.error(errorFacts(error), 'management call failed');
  return { status: 500, body: { error: 'the call failed; see the log of the API', code: 'bug' } };
}

/** Bytes of a call about all that a cluster or a box has. */
const longestBody = 16 * 1024 * 1024;

/** Reads and parses the body of a call, of at most `limit` bytes. Throws Problem. */
async function jsonBody(request: Request, limit = longestBody): Promise<unknown> {
  return parseJson((await readBody(request, limit)).toString('utf8'));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('not-parsable', 'is not JSON');
  }
}

function boxOf({ params: { box } }: Request<{ box: string }>): string {
  if (!isBoxName(box)) throw new Problem('bad-request', 'is not the name of a box');
  return box;
}

/** Applies a call. The answer begins with the work: progress while secrets are hashed, the outcome in the last line. */
async function apply(context: ManagementContext, request: Request<{ box: string }>, response: Response): Promise<void> {
  const box = boxOf(request);
  const { head, lines } = await readCall(request);
  response.status(200).set('Content-Type', 'application/x-ndjson');
  const write = (line: unknown): void => {
    response.write(`${JSON.stringify(line)}\n`);
  };
  try {
    await context.databases.place(box, head.database);
    const run = async (database: ManagedDatabase) => {
      await demandData(context.databases, database, box, head);
      return { ...(await applyBox({ box, head, lines }, database.apply, write)), database: database.name };
    };
    const { results, applied, database } = await inDatabase(context.databases, box, run, head);
    for (const result of results) write(result);
    write({ ...applied, database } satisfies Applied);
  } catch (error) {
    write(failure(error, context.log).body);
  }
  response.end();
}

async function readCall(request: Request): Promise<{ head: ApplyHead; lines: readonly ApplyLine[] }> {
  try {
    return await readLines(request);
  } finally {
    // The unread rest of a refused call would block the next one on its connection.
    request.resume();
  }
}

async function readLines(request: Request): Promise<{ head: ApplyHead; lines: readonly ApplyLine[] }> {
  const lines: ApplyLine[] = [];
  const turn = createTurns();
  let head: ApplyHead | undefined;
  for await (const text of callLines(request)) {
    const value = parseJson(text);
    if (head === undefined) head = parseHead(value);
    else lines.push(parseApplyLine(value));
    await turn();
  }
  if (head === undefined) throw new Problem('bad-request', 'The call is empty: its first line names the cluster');
  return { head, lines };
}

/**
 * Reads lines, each as long as a resource may be over REST, without node's readline: that also ends a line at U+2028,
 * which a resource's text may contain.
 */
async function* callLines(request: Request): AsyncGenerator<string> {
  request.setEncoding('utf8');
  try {
    // The unread rest after a refused line must not prevent the answer.
    yield* linesOf(request.iterator({ destroyOnReturn: false }), bodyLimits.resource);
  } catch (error) {
    if (error instanceof RangeError) throw new Problem('bad-request', error.message);
    // An incomplete call is invalid: the caller died while sending it.
    if (!request.complete) throw new Problem('bad-request', 'The call ended before its last line');
    throw error;
  }
}

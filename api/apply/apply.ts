import type { AuditTrail, Origin } from '../audit/audit-trail.ts';
import { inBoxRecorded } from '../audit/recorded.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import type { ApplyHead, ApplyLine, ApplyProgress, ApplyResult, Applied } from '../client/desired-state.ts';
import type { ClientSecrets } from '../credentials/client-secret.ts';
import type { DeclaredDays } from '../db/audit/audit-days.ts';
import { bumpVersion, ensureBox, demandStandby } from '../db/box/box.ts';
import { storeQuota } from '../db/box/box-use.ts';
import { releaseHosts } from '../db/box/box-host.ts';
import { deleteSomeUsers, demandFewUsers, endBoxData, ManyUsers } from '../db/box/box-data.ts';
import type { DeclaredResource } from '../db/resource/resource.ts';
import { readBinding } from '../db/box/namespace.ts';
import { lockResources } from '../db/resource/write.ts';
import type { Connections } from '../db/core/pool.ts';
import type { Sharer } from '../shares/fair-queue.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { createTurns } from '../../program/scheduling.ts';
import { validateLine, planApply } from './plan.ts';
import type { ApplyPlan, ValidatedLine, KeyHosts, PlannedWrite, FirstAdmins, StoreAdmin } from './plan.ts';
import { withOwnHosts, demandEpoch, Locked, settleClaim, decideClaim } from './claims.ts';
import { resourceEvent } from '../records/write/changed-fields.ts';
import { declaredRows, deleteRows, findRows, releaseRows, storeWrites } from './rows.ts';
import { fitQuota } from './fit-quota.ts';
import type { Applying } from './claims.ts';

/** Milliseconds: a box of many thousand objects takes longer than a request may. */
const applyLimit = 60_000;

/** Dependencies of an apply. */
export interface ApplyServices {
  readonly pool: Connections;
  readonly secrets: ClientSecrets;
  readonly clientKeys: KeyHosts;
  readonly firstAdmins: FirstAdmins;
  readonly declaredDays: DeclaredDays;
  /** Returns the audit trail of a call. */
  readonly trailOf: (origin: Origin) => AuditTrail;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** True if a removal must also be on a synchronous standby. */
  readonly revocationsNeedStandby: boolean;
}

/** Desired state of a box, as one call brings it. */
export interface ApplyRequest {
  readonly box: string;
  readonly head: ApplyHead;
  readonly lines: readonly ApplyLine[];
}

/** Result of an apply, once it is committed. */
export interface ApplyOutcome {
  readonly results: readonly ApplyResult[];
  readonly applied: Omit<Applied, 'database'>;
}

/**
 * Applies the desired state of a box in one transaction: all of it, or nothing. Secrets are hashed before, so that the
 * box is not locked meanwhile, and most users of a box that ends are deleted before; `onProgress` is called for both.
 * Throws Fenced when a later epoch was claimed, Locked when the box is bound to another namespace (from then on it is
 * locked), and Outage.
 */
export async function applyBox(
  asked: ApplyRequest,
  services: ApplyServices,
  onProgress: (progress: ApplyProgress) => void,
): Promise<ApplyOutcome> {
  const { box, head, lines } = asked;
  const now = services.now();
  const plain = await validateLines(lines, now, services.clientKeys);
  const { validated, storeAdmin } = await withFirstAdmin(box, head, plain, services.firstAdmins);
  const hashes = lines.some(carriesResource)
    ? await hashForeseen(asked, validated, services, onProgress)
    : new Map<string, string>();
  await makeDeclaredDays(validated, services);
  const write = async (connection: Connection, note: NoteEvent): Promise<ApplyOutcome | Locked> => {
    if (services.revocationsNeedStandby) await demandStandby(connection);
    return applyNow({ connection, note }, asked, validated, { hashes, storeAdmin });
  };
  const trail = services.trailOf({ operator: head.cluster });
  const apply = () => inBoxRecorded({ pool: services.pool, trail }, box, write, applyLimit);
  const outcome = await withFewUsers(asked, services, apply, onProgress);
  // After the commit, so that the box stays locked.
  if (outcome instanceof Locked) throw outcome;
  return outcome;
}

/**
 * Runs the transaction of an apply. If it ends the data of a box with many users, these are deleted before, in
 * portions: otherwise a box of a million would outlast the limits of the call each time.
 */
async function withFewUsers<T>(
  { box, head }: ApplyRequest,
  { pool }: ApplyServices,
  apply: () => Promise<T>,
  onProgress: (progress: ApplyProgress) => void,
): Promise<T> {
  let done = 0;
  for (;;) {
    try {
      return await apply();
    } catch (error) {
      if (!(error instanceof ManyUsers)) throw error;
      const of = done + error.users;
      done += await inBoxWithin(pool, box, { mode: 'write', limit: applyLimit }, async (connection) => {
        await demandEpoch(connection, head.cluster, head.epoch);
        return deleteSomeUsers(connection, box);
      });
      onProgress({ progress: { done, of } });
    }
  }
}

/** Validates the lines of a call one after the other: compiling their policies takes up to 20 ms each. */
export async function validateLines(
  lines: readonly ApplyLine[],
  now: number,
  hosts: KeyHosts,
): Promise<ValidatedLine[]> {
  const turn = createTurns();
  const validated: ValidatedLine[] = [];
  for (const line of lines) {
    validated.push(validateLine(line, now, hosts));
    await turn();
  }
  return validated;
}

/** Results of slow work that is done before the box is locked. */
export interface Ready {
  /** The stored forms of secrets, by their text. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly storeAdmin: StoreAdmin | undefined;
  /** True if the data of a box with many users may end in this transaction: a dry run deletes nothing for good. */
  readonly endsAll?: true;
}

/** Returns the lines with the faults of the first admin that a Box declares, otherwise the function that stores it. */
async function withFirstAdmin(
  box: string,
  head: ApplyHead,
  validated: readonly ValidatedLine[],
  firstAdmins: FirstAdmins,
): Promise<{ readonly validated: readonly ValidatedLine[]; readonly storeAdmin: StoreAdmin | undefined }> {
  const wanting = validated.find(({ resource }) => resource?.resourceType === 'Box');
  const admin = wanting !== undefined && 'resource' in wanting.line ? wanting.line.bootstrap_admin : undefined;
  if (wanting?.resource?.resourceType !== 'Box' || admin === undefined) return { validated, storeAdmin: undefined };
  const isFresh = head.namespace?.discard !== undefined;
  const prepared = await firstAdmins.prepare(box, wanting.resource, admin, isFresh);
  if ('store' in prepared) return { validated, storeAdmin: prepared.store };
  const faulty = { ...wanting, unusable: prepared.faults };
  return { validated: validated.map((one) => (one === wanting ? faulty : one)), storeAdmin: undefined };
}

/** Creates the days of the audit trail for the retention that a Box declares: its first record needs them. */
async function makeDeclaredDays(validated: readonly ValidatedLine[], { declaredDays }: ApplyServices): Promise<void> {
  for (const { resource } of validated) {
    if (resource?.resourceType === 'Box' && resource.audit?.retention !== undefined) {
      await declaredDays(resource.audit.retention);
    }
  }
}

/** Checks whether a line carries a resource. A comparison carries none, and no secret to be hashed. */
function carriesResource(line: ApplyLine): boolean {
  return 'resource' in line;
}

/** Hashes the secrets that will be stored, as far as they are known before the box is locked. */
async function hashForeseen(
  { box, head }: ApplyRequest,
  validated: readonly ValidatedLine[],
  services: ApplyServices,
  onProgress: (progress: ApplyProgress) => void,
): Promise<ReadonlyMap<string, string>> {
  const lines = validated.map(({ line }) => line);
  const read = (connection: Connection) => foreseenRows(connection, box, head, lines);
  const foreseen = await inBoxWithin(services.pool, box, { mode: 'snapshot', limit: applyLimit }, read);
  const sharer = { box, member: 'apply' };
  return hashSecrets(planApply(head, validated, foreseen), services.secrets, sharer, onProgress);
}

async function applyNow(
  { connection, note }: Applying,
  asked: ApplyRequest,
  validated: readonly ValidatedLine[],
  ready: Ready,
): Promise<ApplyOutcome | Locked> {
  const { box, head } = asked;
  await demandEpoch(connection, head.cluster, head.epoch);
  if (head.missing !== true) await ensureBox(connection, box);
  const version = (await lockResources(connection, box)) ?? 0;
  const locked = await settleClaim({ connection, note }, box, head);
  return locked ?? applyLines({ connection, note }, asked, validated, { ...ready, version });
}

/**
 * Applies validated lines in a transaction that holds the box, which has the config version `version`. A change gives
 * it the next one. Throws ManyUsers and Outage.
 */
export async function applyLines(
  { connection, note }: Applying,
  asked: ApplyRequest,
  validated: readonly ValidatedLine[],
  ready: Ready & { readonly version: number },
): Promise<ApplyOutcome> {
  const { box, head } = asked;
  const lines = validated.map(({ line }) => line);
  const isQuotaNew = head.quota !== undefined && (await storeQuota(connection, box, head.quota));
  if (isQuotaNew) note({ event: 'box.quota_changed', target: `Box/${box}` });
  // A dry run without namespaces claims no host: its answer would tell which ones other boxes have.
  const claimsNone = ready.endsAll === true && head.namespace === undefined;
  const own = claimsNone ? validated : await withOwnHosts(connection, box, head, validated);
  const wanted = planApply(head, own, await foundRows(connection, box, head, lines));
  const plan = await fitQuota(connection, box, wanted);
  const applied = changes(plan) || isQuotaNew ? await store({ connection, note }, asked, plan, ready) : ready.version;
  return { results: plan.results, applied: { box, config_version: applied } };
}

/** Returns the rows as they will be found, so that the right secrets are hashed. */
async function foreseenRows(
  connection: Connection,
  box: string,
  head: ApplyHead,
  lines: readonly ApplyLine[],
): Promise<readonly DeclaredResource[]> {
  const binding = await readBinding(connection, box);
  const verdict = decideClaim(head, binding);
  if (verdict === 'discard') return [];
  const rows = await foundRows(connection, box, head, lines);
  return verdict === 'adopt' ? rows.map((row) => adopted(row, head.cluster, binding.cluster)) : rows;
}

/** Returns a row as adoptRows leaves it. */
function adopted(row: DeclaredResource, to: string, from = to): DeclaredResource {
  if (row.owner?.cluster !== from) return row;
  return { ...row, owner: { cluster: to, name: row.owner.name, uid: undefined } };
}

function changes(plan: ApplyPlan): boolean {
  return plan.writes.length + plan.deletes.length + plan.releases.length > 0;
}

async function foundRows(
  connection: Connection,
  box: string,
  head: ApplyHead,
  lines: readonly ApplyLine[],
): Promise<readonly DeclaredResource[]> {
  if (!head.complete) return findRows(connection, box, lines);
  const declared = await declaredRows(connection, box, head.cluster);
  const known = new Set(declared.map(({ kind, id }) => `${kind}/${id}`));
  const others = lines.filter(({ kind, id }) => !known.has(`${kind}/${id}`));
  return others.length === 0 ? declared : [...declared, ...(await findRows(connection, box, others))];
}

async function store(
  { connection, note }: Applying,
  { box, head }: ApplyRequest,
  plan: ApplyPlan,
  { hashes, storeAdmin, endsAll }: Ready,
): Promise<number> {
  if (plan.purges && endsAll !== true) await demandFewUsers(connection, box);
  const version = await bumpVersion(connection, box);
  const deleted = plan.deletes.length === 0 ? [] : await deleteRows(connection, box, version, plan.deletes);
  if (plan.deletes.some(({ kind }) => kind === 'Box')) await releaseHosts(connection, box);
  for (const key of deleted) note(resourceEvent('deleted', key));
  if (plan.purges) {
    await endBoxData(connection, box, version, 'unowned');
    note({ event: 'box.data_deleted', target: `Box/${box}` });
  }
  const released = plan.releases.length === 0 ? [] : await releaseRows(connection, box, version, plan.releases);
  for (const key of released) note(resourceEvent('changed', key, ['owner']));
  await storeWrites({ connection, note }, box, version, { writes: plan.writes, cluster: head.cluster, hashes });
  // Last, so that a declared policy or group of its name is left alone.
  if (plan.writes.some(({ line }) => line.kind === 'Box')) await storeAdmin?.(connection, version, note);
  return version;
}

const progressEvery = 25;

/** Secrets of one call that wait at once: enough for every thread, and few enough for the shared queue. */
const hashesAtOnce = 16;

/** Hashes the secrets that are going to be stored, on as many threads as the queue has. */
async function hashSecrets(
  plan: ApplyPlan,
  secrets: ClientSecrets,
  sharer: Sharer,
  onProgress: (progress: ApplyProgress) => void,
): Promise<ReadonlyMap<string, string>> {
  const chosen = new Set(plan.writes.flatMap(secretsOf));
  const hashes = new Map<string, string>();
  const left = chosen.values();
  const hashSome = async (): Promise<void> => {
    for (const secret of left) {
      hashes.set(secret, await secrets.store(secret, sharer));
      if (chosen.size > progressEvery && hashes.size % progressEvery === 0) {
        onProgress({ progress: { done: hashes.size, of: chosen.size } });
      }
    }
  };
  await Promise.all(Array.from({ length: hashesAtOnce }, hashSome));
  return hashes;
}

function secretsOf({ resource, previous }: PlannedWrite): readonly string[] {
  const present = 'secret' in resource && typeof resource.secret === 'string' ? [resource.secret] : [];
  return previous?.secret === undefined ? present : [...present, previous.secret];
}

import type { ApplyHead, ApplyLine, ApplyProgress, ApplyResult, Applied } from '../../client/desired-state.ts';
import type { ClientSecrets } from '../../credentials/client-secret.ts';
import { bumpVersion, ensureBox } from '../../db/box/box.ts';
import { storeQuota } from '../../db/box/box-use.ts';
import { releaseHosts } from '../../db/box/box-host.ts';
import { endBoxData } from '../../db/box/box-data.ts';
import { demandStandby } from '../../db/box/durability.ts';
import { adoptRows, bindBox, lockBox, readBinding, reopenBox, retireBox } from '../../db/box/namespace.ts';
import type { DeclaredResource } from '../../db/resource/resource.ts';
import { lockResources } from '../../db/resource/write.ts';
import type { Connections } from '../../db/core/pool.ts';
import type { Sharer } from '../../shares/places.ts';
import { inBoxWithin } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { createTurns } from '../../../process/turns.ts';
import { judgeLine, planApply } from './plan.ts';
import type { ApplyPlan, JudgedLine, KeyHosts, PlannedWrite } from './plan.ts';
import { withOwnHosts } from './box-hosts.ts';
import type { FirstAdmins, StoreAdmin } from './first-admin.ts';
import { declaredRows, deleteRows, findRows, releaseRows } from './declared-rows.ts';
import { demandEpoch } from './demand-epoch.ts';
import { fitQuota } from './fit-quota.ts';
import { storeWrites } from './store-writes.ts';
import { judgeClaim, lockedMessage } from './namespace-claim.ts';

/** The box is bound to another namespace: nothing was applied. */
export class Locked extends Error {
  override readonly name = 'Locked';
  /** The uid of the namespace that it is bound to. */
  readonly bound: string;

  constructor(message: string, bound: string) {
    super(message);
    this.bound = bound;
  }
}

/** Milliseconds: a box of many thousand objects takes longer than a request may. */
const applyLimit = 60_000;

/** Dependencies of an apply. */
export interface ApplyServices {
  readonly pool: Connections;
  readonly secrets: ClientSecrets;
  readonly clientKeys: KeyHosts;
  readonly firstAdmins: FirstAdmins;
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
  readonly applied: Applied;
}

/**
 * Applies the desired state of a box in one transaction: all of it, or nothing. Secrets are hashed before, so that the
 * box is not locked meanwhile; `onProgress` is called for that. Throws Fenced when a later epoch was claimed, Locked
 * when the box is bound to another namespace (from then on it is locked), and Outage.
 */
export async function applyBox(
  asked: ApplyRequest,
  services: ApplyServices,
  onProgress: (progress: ApplyProgress) => void,
): Promise<ApplyOutcome> {
  const { box, head, lines } = asked;
  const now = services.now();
  const plain = await judgeLines(lines, now, services.clientKeys);
  const { judged, storeAdmin } = await withFirstAdmin(box, head, plain, services.firstAdmins);
  const hashes = lines.some(carriesResource)
    ? await hashForeseen(asked, judged, services, onProgress)
    : new Map<string, string>();
  const write = async (connection: Connection): Promise<ApplyOutcome | Locked> => {
    if (services.revocationsNeedStandby) await demandStandby(connection);
    return applyNow(connection, asked, judged, { hashes, storeAdmin });
  };
  const outcome = await inBoxWithin(services.pool, box, { mode: 'write', limit: applyLimit }, write);
  // After the commit, so that the box stays locked.
  if (outcome instanceof Locked) throw outcome;
  return outcome;
}

/** Checks the lines one after the other: compiling their policies takes up to 20 ms each. */
async function judgeLines(lines: readonly ApplyLine[], now: number, hosts: KeyHosts): Promise<JudgedLine[]> {
  const turn = createTurns();
  const judged: JudgedLine[] = [];
  for (const line of lines) {
    judged.push(judgeLine(line, now, hosts));
    await turn();
  }
  return judged;
}

/** Results of slow work that is done before the box is locked. */
interface Ready {
  /** The stored forms of secrets, by their text. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly storeAdmin: StoreAdmin | undefined;
}

/** Returns the lines with the faults of the first admin that a Box declares, otherwise the function that stores it. */
async function withFirstAdmin(
  box: string,
  head: ApplyHead,
  judged: readonly JudgedLine[],
  firstAdmins: FirstAdmins,
): Promise<{ readonly judged: readonly JudgedLine[]; readonly storeAdmin: StoreAdmin | undefined }> {
  const wanting = judged.find(({ resource }) => resource?.resourceType === 'Box');
  const admin = wanting !== undefined && 'resource' in wanting.line ? wanting.line.bootstrap_admin : undefined;
  if (wanting?.resource?.resourceType !== 'Box' || admin === undefined) return { judged, storeAdmin: undefined };
  const isFresh = head.namespace?.discard !== undefined;
  const prepared = await firstAdmins.prepare(box, wanting.resource, admin, isFresh);
  if ('store' in prepared) return { judged, storeAdmin: prepared.store };
  const faulty = { ...wanting, unusable: prepared.faults };
  return { judged: judged.map((one) => (one === wanting ? faulty : one)), storeAdmin: undefined };
}

/** Checks whether a line carries a resource. A comparison carries none, and no secret to be hashed. */
function carriesResource(line: ApplyLine): boolean {
  return 'resource' in line;
}

/** Hashes the secrets that will be stored, as far as they are known before the box is locked. */
async function hashForeseen(
  { box, head }: ApplyRequest,
  judged: readonly JudgedLine[],
  services: ApplyServices,
  onProgress: (progress: ApplyProgress) => void,
): Promise<ReadonlyMap<string, string>> {
  const lines = judged.map(({ line }) => line);
  const read = (connection: Connection) => foreseenRows(connection, box, head, lines);
  const foreseen = await inBoxWithin(services.pool, box, { mode: 'snapshot', limit: applyLimit }, read);
  const sharer = { box, member: 'apply' };
  return hashSecrets(planApply(head, judged, foreseen), services.secrets, sharer, onProgress);
}

async function applyNow(
  connection: Connection,
  asked: ApplyRequest,
  judged: readonly JudgedLine[],
  ready: Ready,
): Promise<ApplyOutcome | Locked> {
  const { box, head } = asked;
  await demandEpoch(connection, head.cluster, head.epoch);
  if (head.missing !== true) await ensureBox(connection, box);
  const version = (await lockResources(connection, box)) ?? 0;
  const locked = await settleClaim(connection, box, head);
  if (locked !== undefined) return locked;
  const lines = judged.map(({ line }) => line);
  const isQuotaNew = head.quota !== undefined && (await storeQuota(connection, box, head.quota));
  const own = await withOwnHosts(connection, box, head, judged);
  const wanted = planApply(head, own, await foundRows(connection, box, head, lines));
  const plan = await fitQuota(connection, box, wanted);
  const applied = changes(plan) || isQuotaNew ? await store(connection, asked, plan, ready) : version;
  return { results: plan.results, applied: { box, config_version: applied } };
}

/** Carries out the verdict on the namespace of a call; returns the refusal if it is not the box's own. */
async function settleClaim(connection: Connection, box: string, head: ApplyHead): Promise<Locked | undefined> {
  const binding = await readBinding(connection, box);
  const verdict = judgeClaim(head, binding);
  if (verdict === 'proceed') return undefined;
  const { uid = '' } = head.namespace ?? {};
  if (verdict === 'refuse' || verdict === 'lock') {
    if (verdict === 'lock') {
      await bumpVersion(connection, box);
      await lockBox(connection, box, uid);
    }
    return new Locked(lockedMessage(box, binding), binding.uid ?? '');
  }
  if (verdict === 'retire') {
    await bumpVersion(connection, box);
    await retireBox(connection, box);
    return undefined;
  }
  if (verdict === 'reopen') {
    await bumpVersion(connection, box);
    await reopenBox(connection, box);
    return undefined;
  }
  if (verdict !== 'bind' || binding.missing) {
    const version = await bumpVersion(connection, box);
    if (verdict === 'discard') await endBoxData(connection, box, version, 'all');
    else if (verdict === 'adopt') await adoptRows(connection, box, binding.cluster ?? head.cluster, head.cluster);
  }
  await bindBox(connection, box, head.cluster, uid);
  return undefined;
}

/** Returns the rows as they will be found, so that the right secrets are hashed. */
async function foreseenRows(
  connection: Connection,
  box: string,
  head: ApplyHead,
  lines: readonly ApplyLine[],
): Promise<readonly DeclaredResource[]> {
  const binding = await readBinding(connection, box);
  const verdict = judgeClaim(head, binding);
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
  connection: Connection,
  { box, head }: ApplyRequest,
  plan: ApplyPlan,
  { hashes, storeAdmin }: Ready,
): Promise<number> {
  const version = await bumpVersion(connection, box);
  if (plan.deletes.length > 0) await deleteRows(connection, box, version, plan.deletes);
  if (plan.deletes.some(({ kind }) => kind === 'Box')) await releaseHosts(connection, box);
  if (plan.purges) await endBoxData(connection, box, version, 'unowned');
  if (plan.releases.length > 0) await releaseRows(connection, box, version, plan.releases);
  await storeWrites(connection, box, version, { writes: plan.writes, cluster: head.cluster, hashes });
  // Last, so that a declared policy or group of its name is left alone.
  if (plan.writes.some(({ line }) => line.kind === 'Box')) await storeAdmin?.(connection, version);
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

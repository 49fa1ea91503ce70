import type { Adoption, ApplyLine, ApplyResult, DeclareLine } from '../api/client/desired-state.ts';
import type { Fault } from '../crds/fault.ts';
import { withoutWithheld } from './allowed-box.ts';
import { applyLines } from './apply-call.ts';
import type { BoxMemory, KnownRow } from './box-memory.ts';
import { confirmedRemovals } from './confirm-removals.ts';
import { declarerOf, ownerOf } from './declared.ts';
import { intentOf, rowKey, rowOf, type Desired } from './desired.ts';
import { releaseRetained } from './forget-secrets.ts';
import { declaredResource } from './judge.ts';
import { recordHandChanges } from './hand-changes.ts';
import { linksToProbe } from './links.ts';
import type { PassContext } from './pass-context.ts';
import { removalLine, type Plan, type Removal } from './plan.ts';
import type { Resource } from './resource.ts';

/** Compares every digest with the database and remembers which rows it has. Changes nothing there. */
export async function takeStock(
  box: string,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<void> {
  memory.refusals.clear();
  memory.elsewhere.clear();
  // Nothing to ask where the database has just said that this cluster declares nothing.
  if (memory.known && memory.rows.size === 0 && memory.published.size === 0) return;
  const wanted = new Map(desired.filter((one) => intentOf(one) === 'declare').map((one) => [one.judged.rowKey, one]));
  const before = memory.rows;
  const results = await applyLines(box, true, comparisons(wanted.values()), context, signal);
  recordHandChanges(box, results, wanted, before, context.events);
  memory.rows = new Map();
  for (const result of results) {
    const key = rowKey(result);
    noteComparison(result, wanted.get(key), before.get(key), memory);
  }
  memory.known = true;
}

function* comparisons(wanted: Iterable<Desired>): Generator<ApplyLine> {
  for (const one of wanted) yield { ...rowOf(one), owner: ownerOf(one.object), digest: one.digest, ...adoption(one) };
}

function adoption({ judged: { adopt } }: Desired): { readonly adopt?: Adoption } {
  return adopt === undefined ? {} : { adopt };
}

function noteComparison(
  result: ApplyResult,
  wanted: Desired | undefined,
  before: KnownRow | undefined,
  memory: BoxMemory,
): void {
  const { kind, id, owner, retain = false } = result;
  const key = rowKey(result);
  if (result.result === 'unchanged' && wanted !== undefined) {
    memory.rows.set(wanted.judged.rowKey, rowOfObject(wanted, rememberedForm(wanted, before)));
  } else if (owner !== undefined) {
    memory.rows.set(key, { kind, id, declarer: declarerOf(owner), digest: undefined, retain, faults: none });
  } else if (result.result === 'conflict' && wanted !== undefined) {
    noteRefusal(result, wanted, memory);
  }
}

/**
 * Whether a policy's rule can be used only the API can tell, and only when it sees the rule: unless that is remembered,
 * the digest counts as unknown, so that the policy is sent and answered in full, and so is a Box with a first admin, whose
 * password may be refused. So is a client with a `jwks_uri`, in every sweep: which hosts are asked is a setting of the API,
 * which may be another one since.
 */
function rememberedForm(
  { judged, digest }: Desired,
  before: KnownRow | undefined,
): Pick<KnownRow, 'digest' | 'faults'> {
  const isAsked = judged.traits.kind === 'Client' && judged.traits.hasJwksUri;
  if (before?.digest === digest) return { digest: isAsked ? undefined : digest, faults: before.faults };
  const { traits } = judged;
  const hasRule =
    traits.kind === 'AccessPolicy' ? traits.engine !== 'allow' : traits.kind === 'Box' && traits.admin !== undefined;
  return { digest: hasRule || isAsked ? undefined : digest, faults: none };
}

/** Written out: a spread takes half as much memory again, and there may be twenty thousand. */
function rowOfObject({ object, judged }: Desired, { digest, faults }: Pick<KnownRow, 'digest' | 'faults'>): KnownRow {
  return { kind: object.kind, id: judged.id, declarer: object, digest, retain: judged.retain, faults };
}

/** Does what a plan says in one call, and asks for the clients that policies link and nobody declares. The removals that were confirmed and done. */
export async function carryOut(
  box: string,
  plan: Plan,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
  const remove = await confirmedRemovals(box, plan.remove, memory, context, signal);
  const declared = new Map(plan.declare.map((one) => [one.judged.rowKey, one]));
  const probes = linksToProbe(desired, (key) => memory.rows.has(key) || declared.has(key), memory.elsewhere);
  if (remove.length === 0 && declared.size === 0 && probes.length === 0) return [];
  // Before its row has no owner: nobody could tell later whose secret it is.
  await releaseRetained(box, desired, remove, memory, context.keeper, signal);
  const lines = linesOf(remove, declared.values(), probes);
  for (const result of await applyLines(box, false, lines, context, signal)) {
    noteResult(result, declared.get(rowKey(result)), memory);
  }
  return remove;
}

/** Removals first: an id may pass from one object to another in one call. */
function* linesOf(
  remove: readonly Removal[],
  declare: Iterable<Desired>,
  probes: readonly string[],
): Generator<ApplyLine> {
  for (const removal of remove) yield removalLine(removal);
  for (const one of declare) {
    const line = { ...rowOf(one), owner: ownerOf(one.object), digest: one.digest, ...adoption(one), ...ending(one) };
    yield { ...line, ...previousOf(one), ...adminOf(one), resource: withSecret(one) };
  }
  for (const id of probes) yield { kind: 'Client', id, probe: true };
}

/** What becomes of the row when its object goes. */
function ending({ judged: { retain, purge } }: Desired): { readonly retain?: true; readonly purge?: true } {
  return { ...(retain ? { retain } : {}), ...(purge ? { purge } : {}) };
}

function previousOf({ secret }: Desired): Pick<DeclareLine, 'previous'> {
  if (secret.state !== 'ready' || secret.previous === undefined) return {};
  const { value, until } = secret.previous;
  const known = value === undefined ? {} : { secret: value.reveal() };
  return { previous: { ...known, until: new Date(until).toISOString() } };
}

/** The first admin of a box, once the password is there. */
function adminOf({ judged: { traits }, secret }: Desired): Pick<DeclareLine, 'bootstrap_admin'> {
  if (traits.kind !== 'Box' || traits.admin === undefined || secret.state !== 'ready') return {};
  return { bootstrap_admin: { email: traits.admin, password: secret.value.reveal() } };
}

/** A secret that is missing leaves the stored one; a client that is to have none loses it. */
function withSecret({ object, judged, secret }: Desired): Resource {
  const resource = withoutWithheld(declaredResource(object), judged);
  if (resource.resourceType !== 'Client' || secret.state === 'missing') return resource;
  return { ...resource, secret: secret.state === 'ready' ? secret.value.reveal() : null };
}

function noteResult(result: ApplyResult, declared: Desired | undefined, memory: BoxMemory): void {
  const key = rowKey(result);
  switch (result.result) {
    case 'created':
    case 'updated':
    case 'unchanged':
      if (declared === undefined) return;
      memory.rows.set(
        declared.judged.rowKey,
        rowOfObject(declared, { digest: declared.digest, faults: belowSpec(result.faults) }),
      );
      memory.refusals.delete(declared.object.key);
      return;
    case 'deleted':
      memory.rows.delete(key);
      return;
    case 'retained':
      memory.rows.delete(key);
      memory.elsewhere.set(key, true);
      return;
    case 'exists':
    case 'absent':
      // An id that was asked for and deleted in one call is answered twice.
      if (result.result === 'absent') memory.rows.delete(key);
      memory.elsewhere.set(key, result.result === 'exists');
      return;
    case 'conflict':
    case 'invalid':
      if (declared !== undefined) noteRefusal(result, declared, memory);
      return;
    case 'needed':
    case 'undeclared':
      return;
  }
}

function noteRefusal(result: ApplyResult, { object: { key }, digest }: Desired, memory: BoxMemory): void {
  const kind = result.result === 'invalid' ? 'invalid' : 'conflict';
  const faults = belowSpec(result.faults);
  const detail = result.detail ?? (kind === 'invalid' ? 'the API refuses it' : 'the id was there before');
  memory.refusals.set(key, { digest, result: kind, faults, detail });
}

const none: readonly never[] = [];

/** The API names fields of the resource; people wrote them below `spec`. */
function belowSpec(faults: readonly Fault[] = none): readonly Fault[] {
  if (faults.length === 0) return none;
  return faults.map(({ path, message }) => ({ path: path === '' ? '' : `spec.${path}`, message }));
}

import type { Client } from '../../crds/client.ts';
import type { Fault } from '../../crds/fault.ts';
import { isGeneratedSecret } from '../../crds/generated-secret-text.ts';
import type { Kind } from '../../crds/kind.ts';
import { keyFaults } from '../../crds/public-keys.ts';
import { sizeFaults } from '../../crds/resource-size.ts';
import { checkResource, rowIdOf, type Resource } from '../../crds/validate.ts';
import type {
  ApplyHead,
  ApplyLine,
  ApplyResult,
  DeclareLine,
  DeleteLine,
  PreviousSecret,
  RowName,
  BootstrapAdmin,
} from '../client/desired-state.ts';
import type { DeclaredResource } from '../db/resource/resource.ts';
import { CompiledPolicy } from '../policy/compile.ts';
import { futureMoment } from '../records/write/submission.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import type { Box } from '../../crds/box.ts';
import type { Connection } from '../db/core/transaction.ts';

/** Hosts that are asked for the keys of clients: a setting of the API. */
export interface KeyHosts {
  /** Returns the reason why the keys of a client are never fetched; undefined if they are, or it has none to fetch. */
  readonly unlistedHost: (client: Client) => Fault | undefined;
}

/** A declared object after its check: the resource to be stored, and its faults. */
export interface ValidatedLine {
  readonly line: ApplyLine;
  readonly resource?: Resource;
  /** The previous secret, while it is still valid. */
  readonly previous?: PlannedWrite['previous'];
  /** Faults that refuse the line: the stored row stays. */
  readonly refused?: readonly Fault[];
  /** Faults that no schema sees, stored without effect: a useless policy, unfetched keys, hosts of another box. */
  readonly unusable?: readonly Fault[];
  /** The resource lacks a part of what is declared. Its row has no digest, so that it is stored again. */
  readonly isPartial?: true;
}

/**
 * Validates one line of an apply call: its resource by the schema and the time, a policy by its engine, a client by the
 * hosts whose keys are fetched. `now` in milliseconds.
 */
export function validateLine(line: ApplyLine, now: number, { unlistedHost }: KeyHosts): ValidatedLine {
  if (!('resource' in line)) return { line };
  const checked = checkResource(line.kind, line.resource);
  if (!checked.ok) return { line, refused: checked.faults };
  const { resource } = checked;
  if (rowIdOf(resource) !== line.id) return { line, refused: [{ path: 'id', message: 'must be the id of the line' }] };
  const unfit = resource.resourceType === 'Client' ? keyFaults(resource.jwks) : [];
  const faults = [...sizeFaults({ ...resource }), ...unfit];
  if (faults.length > 0) return { line, refused: faults };
  const future = futureMoment(resource, now);
  if (future !== undefined) return { line, refused: [future] };
  const previous = line.previous === undefined ? {} : validatePrevious(line, line.previous, now);
  if ('refused' in previous) return { line, ...previous };
  const fault = withoutEffect(resource, unlistedHost);
  return { line, resource, ...previous, ...(fault === undefined ? {} : { unusable: [fault] }) };
}

function withoutEffect(resource: Resource, unlistedHost: KeyHosts['unlistedHost']): Fault | undefined {
  if (resource.resourceType === 'Client') return unlistedHost(resource);
  const message = resource.resourceType === 'AccessPolicy' ? new CompiledPolicy(resource).fault : undefined;
  return message === undefined ? undefined : { path: '', message };
}

/** Validates a previous secret like the present one; an expired one is left out. */
function validatePrevious(
  { kind, resource }: DeclareLine,
  { secret, until }: PreviousSecret,
  now: number,
): Pick<ValidatedLine, 'refused'> | Pick<ValidatedLine, 'previous'> {
  const time = Date.parse(until);
  if (kind !== 'Client' || Number.isNaN(time)) {
    return { refused: [{ path: 'previous', message: 'must be a secret of a Client, and a time' }] };
  }
  const faults = secret === undefined ? storedPreviousFaults(resource) : previousFaults(kind, { ...resource, secret });
  if (faults.length > 0) return { refused: faults };
  return time <= now ? {} : { previous: { secret, until: time } };
}

function previousFaults(kind: Kind, resource: object): readonly Fault[] {
  const checked = checkResource(kind, resource);
  return checked.ok ? [] : checked.faults;
}

/** Returns a fault for a chosen secret: it cannot be compared cheaply with the stored one, as each hash differs. */
function storedPreviousFaults(resource: DeclareLine['resource']): readonly Fault[] {
  const isTold = 'secret' in resource && typeof resource.secret === 'string' && isGeneratedSecret(resource.secret);
  return isTold ? [] : [{ path: 'previous', message: 'must hold a secret beside one that is not generated' }];
}

/** A row that is to be written. */
export interface PlannedWrite {
  readonly line: DeclareLine;
  readonly resource: Resource;
  /** The answer to its line, if it is written. */
  readonly result: ApplyResult;
  /** See {@link ValidatedLine}. */
  readonly isPartial?: true;
  /** Previous secret; undefined: the stored one. `until` in milliseconds since 1970. */
  readonly previous?: { readonly secret: string | undefined; readonly until: number };
}

/** Changes that a call makes to the rows of a box, and the answer to each of its lines. */
export interface ApplyPlan {
  readonly results: readonly ApplyResult[];
  readonly writes: readonly PlannedWrite[];
  readonly deletes: readonly RowName[];
  /** Rows that lose their owner and stay. */
  readonly releases: readonly RowName[];
  /** True if a Box is deleted, and the data of the box with it. */
  readonly purges: boolean;
}

/** Compares declared with stored rows (pure). `found` holds the named rows and all that the cluster declares. */
export function planApply(
  head: ApplyHead,
  lines: readonly ValidatedLine[],
  found: readonly DeclaredResource[],
): ApplyPlan {
  const rows = new Map(found.map((row) => [keyOf(row), row]));
  const ended = (how: 'deleted' | 'retained') =>
    lines.flatMap(({ line }) =>
      'delete' in line && answerDelete(head, line, rows.get(keyOf(line))) === how ? [nameOf(line)] : [],
    );
  const deletes = ended('deleted');
  const releases = ended('retained');
  const left = new Map([...rows, ...releases.map((name) => [keyOf(name), ownerless(rows, name)] as const)]);
  for (const name of deletes) left.delete(keyOf(name));
  const results: ApplyResult[] = [];
  const writes: PlannedWrite[] = [];
  for (const validated of lines) {
    const { line, resource, previous, isPartial } = validated;
    const result = answer(head, validated, ('delete' in line ? rows : left).get(keyOf(line)));
    const named = { kind: line.kind, id: line.id, ...result };
    results.push(named);
    const stored = result.result === 'created' || result.result === 'updated';
    if (stored && 'resource' in line && resource !== undefined) {
      const optional = {
        ...(previous === undefined ? {} : { previous }),
        ...(isPartial === true ? { isPartial } : {}),
      };
      writes.push({ line, resource, result: named, ...optional });
    }
  }
  if (head.complete) results.push(...undeclared(head, lines, found));
  const purges = deletes.some((name) => name.kind === 'Box' && rows.get(keyOf(name))?.purge === true);
  return { results, writes, deletes, releases, purges };
}

type Verdict = Omit<ApplyResult, 'kind' | 'id'>;

function answer(head: ApplyHead, validated: ValidatedLine, row: DeclaredResource | undefined): Verdict {
  const { line, refused, unusable } = validated;
  if ('delete' in line) return { result: answerDelete(head, line, row) };
  if (refused !== undefined) return { result: 'invalid', faults: refused };
  const conflict = row === undefined ? undefined : conflictOf(head, line, row);
  if (conflict !== undefined) return { result: 'conflict', detail: conflict, ...declarerOf(head, row) };
  const faults = unusable === undefined ? {} : { faults: unusable };
  const same = row?.digest === line.digest && row.owner?.uid === line.owner.uid;
  if (same) return { result: 'unchanged', ...faults };
  if (!('resource' in line)) return { result: 'needed' };
  return { result: row === undefined ? 'created' : 'updated', ...faults };
}

/** Returns the conflict over a row. It belongs to the object that declares it, or if unowned to one that adopts it. */
function conflictOf(
  head: ApplyHead,
  { owner, adopt }: Pick<DeclareLine, 'owner' | 'adopt'>,
  row: DeclaredResource,
): string | undefined {
  if (row.owner === undefined) return adopt === undefined ? unowned : undefined;
  if (row.owner.cluster === head.cluster && row.owner.name === owner.name) return undefined;
  const where = row.owner.cluster === head.cluster ? '' : ` of cluster ${row.owner.cluster}`;
  return `owned by ${row.owner.name}${where}`;
}

const unowned = 'no object declares it: it was created over REST, or retained; spec.adoption: IfUnowned takes it over';

function answerDelete(
  head: ApplyHead,
  { owner, retain }: DeleteLine,
  row: DeclaredResource | undefined,
): 'deleted' | 'retained' | 'absent' | 'conflict' {
  if (row === undefined) return 'absent';
  const own =
    row.owner?.cluster === head.cluster && row.owner.name === owner.name && (row.owner.uid ?? '') === owner.uid;
  if (!own) return 'conflict';
  return row.retain || retain === true ? 'retained' : 'deleted';
}

function ownerless(rows: ReadonlyMap<string, DeclaredResource>, name: RowName): DeclaredResource {
  const ownership = { owner: undefined, digest: undefined, retain: false, purge: false };
  return { version: 0, ...rows.get(keyOf(name)), ...name, ...ownership };
}

function nameOf({ kind, id }: RowName): RowName {
  return { kind, id };
}

function undeclared(
  head: ApplyHead,
  lines: readonly ValidatedLine[],
  found: readonly DeclaredResource[],
): readonly ApplyResult[] {
  const named = new Set(lines.map(({ line }) => keyOf(line)));
  return found.flatMap((row) => {
    const declarer = declarerOf(head, row);
    if (declarer.owner === undefined || named.has(keyOf(row))) return [];
    return [{ kind: row.kind, id: row.id, result: 'undeclared' as const, ...declarer }];
  });
}

/** Returns the object of this cluster that declared a row; a delete must name it. */
function declarerOf(head: ApplyHead, row: DeclaredResource | undefined): Pick<ApplyResult, 'owner' | 'retain'> {
  if (row?.owner?.cluster !== head.cluster) return {};
  const owner = { name: row.owner.name, uid: row.owner.uid ?? '' };
  return row.retain ? { owner, retain: true } : { owner };
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind}/${id}`;
}

/** Stores the first admin of a box under its new config version, in the transaction holding the box. Throws Outage. */
export type StoreAdmin = (connection: Connection, version: number, note: NoteEvent) => Promise<void>;

/**
 * Creation of the first admin of a box (`bootstrap_admin`), once: slow work before the box is locked, then the rest in
 * its transaction. Users are created elsewhere (api/users), so the code that assembles the API provides this.
 */
export interface FirstAdmins {
  /** Prepares the admin, or returns its faults. `isFresh`: the box's present users will be gone. Throws Outage. */
  prepare(
    box: string,
    settings: Box,
    admin: BootstrapAdmin,
    isFresh: boolean,
  ): Promise<{ readonly faults: readonly Fault[] } | { readonly store: StoreAdmin }>;
}

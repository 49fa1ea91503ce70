import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { confidentialFault } from '../../crds/client-type.ts';
import { RESOURCE_ID } from '../../crds/fields.ts';
import { isObject } from '../../crds/path.ts';
import type { NoteEvent } from '../audit/recorded.ts';
import { bumpVersion } from '../db/box/box.ts';
import { inBox } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { readResource } from '../db/resource/resource.ts';
import type { StoredResource } from '../db/resource/resource.ts';
import { resourceListing } from '../db/resource/search.ts';
import type { ResourceFilters } from '../db/resource/search.ts';
import { storeResources } from '../db/resource/store.ts';
import type { ResourceWrite } from '../db/resource/store.ts';
import { deleteResources } from '../db/resource/write.ts';
import { Problem } from '../problem.ts';
import { readDates } from './search/values.ts';
import type { SearchDefinition } from './search/parameters.ts';
import { searchable } from './search/search.ts';
import type { ResourceRef, ResourceServices, StoredKind } from './services.ts';
import { changing, changingRights, refuseManaged, withinQuota } from './write/change.ts';
import { changedResourceFields, resourceEvent, storeEvent } from './write/changed-fields.ts';
import type { WriteConditions, Preconditions } from './write/conditions.ts';
import { ChangedMeanwhile, demandPreconditions } from './write/conditions.ts';
import { PREVIOUS_UNTIL, storedElements, storedView, withWarnings } from './write/stored-view.ts';
import type { StoredRow } from './write/stored-view.ts';
import { readSubmission } from './write/submission.ts';
import type { Submission } from './write/submission.ts';
import { changedDocument, defineRecord } from './record.ts';
import type { RecordKind, RequestedChange, Written } from './record.ts';

const idForm = new RegExp(RESOURCE_ID);

/** Defines clients or policies, which are stored as they are submitted: a PUT creates what is not there. */
export function defineStored<Kind extends StoredKind>(
  kind: Kind,
  filters: SearchDefinition<ResourceFilters>['filters'],
): RecordKind<Kind, StoredRow, ResourceFilters, string> {
  const created = (texts: readonly string[], name: string) => ({ createdAt: readDates(name, texts) });
  const elements = storedElements[kind];
  return defineRecord({
    kind,
    search: searchable(resourceListing(kind), { elements, sort: 'id', filters, ranges: { created_at: created } }),
    view: storedView,
    version: ({ version }) => version,
    owner: ({ owner }) => owner,
    idOf: (text) => (idForm.test(text) ? text : undefined),
    read: (connection, box, id) => readResource(connection, box, { kind, id }),
    create: (services, box, document) => create(services, box, kind, document),
    put: (services, box, { id, ...change }) => replace(services, { box, kind, id }, change),
    change: (services, box, { id, ...change }) => patch(services, { box, kind, id }, change),
    changedFields: (row, requested, id) =>
      changedResourceFields(kind, id, row, row === undefined ? requested.value : changed(row, requested)),
    remove: (services, box, id, preconditions) => remove(services, { box, kind, id }, preconditions),
  });
}

/**
 * Creates a resource under the id in its body, or a new UUID. Throws Problem `invalid`, `conflict` (the id is taken),
 * and Outage.
 */
async function create(services: ResourceServices, box: string, kind: StoredKind, value: unknown): Promise<StoredRow> {
  const named = isObject(value) && value['id'] === undefined ? { ...value, id: randomUUID() } : value;
  const submission = readSubmission({ kind }, named, services.now());
  const { id } = submission;
  const hash = await hashOf(submission, services);
  return changing(services, box, async (connection, note) => {
    const current = await readResource(connection, box, { kind, id });
    if (current !== undefined) {
      throw new Problem('conflict', [{ path: 'id', message: `is taken: ${kind} ${id} exists; replace it with PUT` }]);
    }
    return store(connection, box, { submission, current, hash }, note);
  });
}

/** Runs a change of a present resource, or its removal: only policies give rights to users. */
const changingPresent = <T>(kind: StoredKind, ...change: Parameters<typeof changing<T>>): Promise<T> =>
  kind === 'AccessPolicy' ? changingRights(...change) : changing(...change);

type Change = WriteConditions & { readonly requested: RequestedChange };

/**
 * Creates or replaces a resource. Throws Problem `invalid`, `conflict` (it is managed), `precondition-failed`,
 * ChangedMeanwhile, and Outage.
 */
async function replace(
  services: ResourceServices,
  ref: ResourceRef,
  { requested: { value }, preconditions, confirmChanges }: Change,
): Promise<Written<StoredRow>> {
  const { box, kind, id } = ref;
  const read = (connection: Connection) => readResource(connection, box, ref);
  const before = idForm.test(id) ? await inBox(services.pool, box, 'snapshot', read) : undefined;
  admit(services, before, preconditions);
  const submission = readSubmission(ref, value, services.now(), before);
  const hash = await hashOf(submission, services);
  return changingPresent(kind, services, box, async (connection, note) => {
    const current = await read(connection);
    admit(services, current, preconditions);
    confirmChanges?.(() => changedResourceFields(kind, id, current, value));
    const row = await store(connection, box, { submission, current, hash }, note);
    return { row, created: current === undefined };
  });
}

/** Refuses to change a managed resource, or another version than the preconditions name. Throws Problem. */
function admit(services: ResourceServices, current: StoredResource | undefined, preconditions: Preconditions): void {
  refuseManaged(current, services);
  demandPreconditions(preconditions, current?.version);
}

/** Hashes the secret of a submission before the box is locked: it takes a while, and other changes must not wait. */
async function hashOf({ secret }: Submission, { secrets }: ResourceServices): Promise<string | undefined> {
  return typeof secret === 'string' ? secrets.store(secret) : undefined;
}

/**
 * Changes a resource by a patch; undefined when there is none. Throws Problem `not-parsable`, `invalid`, `conflict` (it
 * is managed, or the patch does not fit it), `precondition-failed`, ChangedMeanwhile, and Outage.
 */
async function patch(
  services: ResourceServices,
  ref: ResourceRef,
  { requested, preconditions, confirmChanges }: Change,
): Promise<StoredRow | undefined> {
  const { box, kind, id } = ref;
  const read = (connection: Connection) => readResource(connection, box, ref);
  const patched = (current: StoredResource): Submission => {
    admit(services, current, preconditions);
    const wanted = changed(current, requested);
    confirmChanges?.(() => changedResourceFields(kind, id, current, wanted));
    return readSubmission(ref, wanted, services.now(), current);
  };
  const before = await inBox(services.pool, box, 'snapshot', read);
  if (before === undefined) return undefined;
  const submitted = patched(before);
  const hash = await hashOf(submitted, services);
  return changingPresent(kind, services, box, async (connection, note) => {
    const current = await read(connection);
    if (current === undefined) return undefined;
    const submission = patched(current);
    // A patch may copy its secret from a field that has moved.
    if (submission.secret !== submitted.secret) throw new ChangedMeanwhile();
    return store(connection, box, { submission, current, hash }, note);
  });
}

/** Returns a resource after a change. Throws Problem `conflict` when a patch does not fit it, and `invalid`. */
function changed(current: StoredResource, requested: RequestedChange): unknown {
  const { [PREVIOUS_UNTIL]: _until, ...shown } = storedView(current);
  if (requested.form === 'json-patch')
    return changedDocument(shown, { ...requested, value: requested.value.map(unshownMember) });
  const result = changedDocument(shown, requested);
  const { value } = requested;
  if (!isObject(result) || !isObject(value)) return result;
  // A merge removes what is null, and these were not there to begin with: they would be kept.
  return {
    ...result,
    ...Object.fromEntries(unshown.filter((name) => value[name] === null).map((name) => [name, null])),
  };
}

/** Members that a patch may set, of a document that does not show them: a new secret ends the previous one, too. */
const unshown = ['secret', PREVIOUS_UNTIL];

/** Turns `replace` and `remove` of an unshown member into `add`. */
function unshownMember(operation: unknown): unknown {
  if (!isObject(operation) || !unshown.some((name) => operation['path'] === `/${name}`)) return operation;
  const { op, path } = operation;
  if (op === 'remove') return { op: 'add', path, value: null };
  return op === 'replace' ? { ...operation, op: 'add' } : operation;
}

/**
 * Deletes a resource and returns it; undefined when it was not there. With a client all its sessions end. Throws
 * Problem `conflict` (it is managed), `precondition-failed`, and Outage.
 */
function remove(
  services: ResourceServices,
  { box, kind, id }: ResourceRef,
  preconditions: Preconditions,
): Promise<StoredResource | undefined> {
  return changingPresent(kind, services, box, async (connection, note) => {
    const key = { kind, id };
    const current = await readResource(connection, box, key);
    admit(services, current, preconditions);
    if (current === undefined) return undefined;
    await deleteResources(connection, box, await bumpVersion(connection, box), [key]);
    note(resourceEvent('deleted', key));
    return current;
  });
}

/** A submission that replaces the present resource, if there is one. */
interface Replacement {
  readonly submission: Submission;
  readonly current: StoredResource | undefined;
  /** Stored form of the submitted secret. */
  readonly hash: string | undefined;
}

/**
 * Stores a submission in place of the present resource, and notes the event. A submission that changes nothing writes
 * nothing and keeps the version. Must be called within `changing`. Throws Problem `invalid` for a client that needs a
 * secret and has none, and beyond a quota of the box.
 */
async function store(
  connection: Connection,
  box: string,
  replacement: Replacement,
  note: NoteEvent,
): Promise<StoredRow> {
  const { submission, current } = replacement;
  const { kind, id, resource, body } = submission;
  if (resource.resourceType === 'Client') {
    const fault = confidentialFault(resource, current?.hasSecret ?? false);
    if (fault !== undefined) throw new Problem('invalid', [fault]);
  }
  const secrets = secretsOf(replacement);
  const previous = previousOf(replacement, secrets);
  if (current !== undefined && secrets === undefined && previous === undefined && isDeepStrictEqual(current.body, body))
    return withWarnings(connection, box, resource, current);
  const write = { kind, id, body, secrets, previous, owner: undefined, digest: undefined };
  await withinQuota(connection, box, async () => {
    await storeResources(connection, box, await bumpVersion(connection, box), [write]);
  });
  const stored = await readResource(connection, box, write);
  if (stored === undefined) throw new Error(`${kind} ${id} was stored, and is not there`);
  const changesUntil = submission.previousUntil !== undefined && previous !== undefined;
  const besides = [...(secrets === undefined ? [] : ['secret']), ...(changesUntil ? [PREVIOUS_UNTIL] : [])];
  note(storeEvent({ kind, id }, current?.body, body, besides));
  return withWarnings(connection, box, resource, stored);
}

/** Returns the secrets to store; undefined: the present ones stay. */
function secretsOf({ submission, current, hash }: Replacement): readonly string[] | undefined {
  const { secret } = submission;
  if (secret === undefined) return undefined;
  if (secret === null) return current?.hasSecret === true ? [] : undefined;
  if (hash === undefined) throw new TypeError('a secret that was not hashed');
  return [hash];
}

/**
 * Returns the previous secret to store; undefined: the present one stays. A new secret, or the removal of the secret,
 * ends it unless the submission says until when the replaced one is valid. Throws Problem `invalid` if there is none.
 */
function previousOf(
  { submission: { previousUntil }, current }: Replacement,
  secrets: readonly string[] | undefined,
): ResourceWrite['previous'] {
  if (secrets === undefined) {
    const isSame = previousUntil === undefined || (previousUntil ?? undefined) === current?.previousUntil;
    if (isSame || current === undefined) return undefined;
    if (previousUntil !== null && current.previousUntil === undefined) throw new Problem('invalid', [noPrevious]);
  }
  if (previousUntil === undefined || previousUntil === null || secrets?.length === 0) return null;
  return { stored: undefined, until: previousUntil };
}

const noPrevious = {
  path: PREVIOUS_UNTIL,
  message: 'has no previous secret to keep: send it together with a new secret',
};

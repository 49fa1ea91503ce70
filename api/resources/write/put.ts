import type { Fault } from '../../../crds/fault.ts';
import { RESOURCE_ID } from '../../../crds/fields.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { readResource } from '../../db/resource/resource.ts';
import { Problem } from '../../problem.ts';
import { changing, refuseManaged } from './change.ts';
import { changedResourceFields } from './changed-fields.ts';
import type { WriteConditions } from './confirm-changes.ts';
import { demandPreconditions } from './etag.ts';
import type { ResourceRef, ResourceServices } from '../services.ts';
import { store } from './store.ts';
import type { Written } from './store.ts';
import { givesReadOnly, readOnlyFaults } from './stored-view.ts';
import { validateSubmission } from './submission.ts';

/**
 * Creates or replaces a resource. Throws Problem `invalid`, `conflict` (it is managed), `precondition-failed`,
 * ChangedMeanwhile, and Outage.
 */
export async function putResource(
  services: ResourceServices,
  ref: ResourceRef,
  value: unknown,
  { preconditions, confirmChanges }: WriteConditions,
): Promise<Written> {
  const { box, kind, id } = ref;
  const validated = validateSubmission(ref, value, services.now());
  if (!validated.ok) {
    throw new Problem('invalid', [...validated.faults, ...(await faultsOfReadOnly(services, ref, value))]);
  }
  const { submission } = validated;
  // Before the lock: hashing takes a while, and other changes of the box must not wait for it.
  const { secret } = submission;
  const hash = typeof secret === 'string' ? await services.secrets.store(secret) : undefined;
  return changing(services, box, async (connection, note) => {
    const current = await readResource(connection, box, ref);
    refuseManaged(current, services);
    demandPreconditions(preconditions, current?.version);
    const readOnly = readOnlyFaults(value, current);
    if (readOnly.length > 0) throw new Problem('invalid', readOnly);
    confirmChanges?.(() => changedResourceFields(kind, id, current, value));
    return store(connection, box, { submission, current, hash }, note);
  });
}

const idForm = new RegExp(RESOURCE_ID);

/** Returns the faults of read-only fields, to report all faults at once. Reads the row only if there are any. */
async function faultsOfReadOnly(
  services: ResourceServices,
  ref: ResourceRef,
  value: unknown,
): Promise<readonly Fault[]> {
  if (!givesReadOnly(value)) return [];
  const read = (connection: Connection) => readResource(connection, ref.box, ref);
  return readOnlyFaults(value, idForm.test(ref.id) ? await inBox(services.pool, ref.box, 'snapshot', read) : undefined);
}

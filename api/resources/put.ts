import { readResource } from '../db/resource.ts';
import { changing, refuseManaged } from './change.ts';
import { changedResourceFields } from './changed-fields.ts';
import type { ConfirmChanges } from './confirm-changes.ts';
import { demandPreconditions } from './etag.ts';
import type { Preconditions } from './etag.ts';
import type { ResourceServices, StoredKind } from './services.ts';
import { store } from './store.ts';
import type { Written } from './store.ts';
import { readSubmission } from './submission.ts';

/**
 * Creates or replaces a resource. Throws Problem `invalid`, `conflict` (it is managed), `precondition-failed`,
 * ChangedMeanwhile, and Outage.
 */
export async function putResource(
  services: ResourceServices,
  box: string,
  kind: StoredKind,
  id: string,
  value: unknown,
  preconditions: Preconditions,
  confirm?: ConfirmChanges,
): Promise<Written> {
  const submission = readSubmission(kind, value, id, services.now());
  // Before the lock: hashing takes a while, and other changes of the box must not wait for it.
  const { secret } = submission;
  const hash = typeof secret === 'string' ? await services.secrets.store(secret) : undefined;
  return changing(services, box, async (connection) => {
    const current = await readResource(connection, box, { kind, id });
    refuseManaged(current);
    demandPreconditions(preconditions, current?.version);
    confirm?.(() => changedResourceFields(kind, id, current, value));
    return store(connection, box, submission, current, hash);
  });
}

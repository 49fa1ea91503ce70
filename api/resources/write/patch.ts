import { isObject } from '../../../crds/json-value.ts';
import { Secret } from '../../client/secret.ts';
import { readResource } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { Problem } from '../../problem.ts';
import { changing, refuseManaged } from './change.ts';
import { changedResourceFields } from './changed-fields.ts';
import type { WriteConditions } from './confirm-changes.ts';
import { demandPreconditions } from './etag.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import type { ResourceRef, ResourceServices } from '../services.ts';
import { store } from './store.ts';
import type { Written } from './store.ts';
import { storedView } from './stored-view.ts';
import { readSubmission } from './submission.ts';

/** A change of a document, in one of its two forms. */
export type Patch =
  | { readonly form: 'merge-patch'; readonly value: unknown }
  | { readonly form: 'json-patch'; readonly value: readonly unknown[] };

/** The secret's stored form, made before the box is locked. */
interface Hashed {
  readonly secret: Secret;
  readonly hash: string;
}

/** Outcome of a round: what was stored, undefined if there is no resource, or a secret that must be hashed first. */
type Round = { readonly written: Written | undefined } | { readonly needsHash: Secret };

/**
 * Changes a resource by a patch; undefined when there is none. Throws Problem `not-parsable`, `invalid`, `conflict` (it
 * is managed, or the patch does not fit it), `precondition-failed`, ChangedMeanwhile, and Outage.
 */
export async function patchResource(
  services: ResourceServices,
  ref: ResourceRef,
  patch: Patch,
  { preconditions, confirmChanges }: WriteConditions,
): Promise<Written | undefined> {
  const { box, kind, id } = ref;
  let hashed: Hashed | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const known = hashed;
    const outcome = await changing<Round>(services, box, async (connection, note) => {
      const current = await readResource(connection, box, ref);
      if (current === undefined) return { written: undefined };
      refuseManaged(current, services);
      demandPreconditions(preconditions, current.version);
      const wished = patchedBody(current, patch);
      confirmChanges?.(() => changedResourceFields(kind, id, current, wished));
      const submission = readSubmission(ref, wished, services.now(), current);
      const { secret } = submission;
      // A secret must be hashed first: not under the lock.
      if (typeof secret === 'string' && secret !== known?.secret.reveal()) return { needsHash: new Secret(secret) };
      return { written: await store(connection, box, { submission, current, hash: known?.hash }, note) };
    });
    if ('written' in outcome) return outcome.written;
    hashed = { secret: outcome.needsHash, hash: await services.secrets.store(outcome.needsHash.reveal()) };
  }
  throw new Problem('conflict', `${kind} ${id} is being changed by others; try again`);
}

/** The second round has the hash; a third is needed only when the patch copies a secret from a field that moved. */
const rounds = 3;

/** Returns a resource after a patch. Throws Problem `conflict` when the patch does not fit it, and `invalid`. */
export function patchedBody(current: StoredResource, patch: Patch): unknown {
  const shown = storedView(current);
  if (patch.form === 'json-patch') return jsonPatch(shown, patch.value.map(writeOnlySecret));
  const result = mergePatch(shown, patch.value);
  // A merge removes what is null, and the secret was not there to begin with: it would be kept.
  const removesSecret = isObject(patch.value) && patch.value['secret'] === null;
  return removesSecret && isObject(result) ? { ...result, secret: null } : result;
}

/** Turns `replace` and `remove` of the secret into `add`: the document does not show it. */
function writeOnlySecret(operation: unknown): unknown {
  if (!isObject(operation) || operation['path'] !== '/secret') return operation;
  if (operation['op'] === 'remove') return { op: 'add', path: '/secret', value: null };
  return operation['op'] === 'replace' ? { ...operation, op: 'add' } : operation;
}

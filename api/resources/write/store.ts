import { isDeepStrictEqual } from 'node:util';
import { confidentialFault } from '../../../crds/client-type.ts';
import type { NoteEvent } from '../../audit/recorded.ts';
import { bumpVersion } from '../../db/box/box.ts';
import { readResource } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { storeResources } from '../../db/resource/store.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { storeEvent } from './resource-event.ts';
import type { Submission } from './submission.ts';
import { withinQuota } from './within-quota.ts';

/** Result of a write. */
export interface Written {
  readonly stored: StoredResource;
  readonly created: boolean;
}

/** A submission that replaces the present resource, if there is one. */
export interface Replacement {
  readonly submission: Submission;
  readonly current: StoredResource | undefined;
  /** Stored form of the submitted secret. */
  readonly hash: string | undefined;
}

/**
 * Stores a submission in place of the present resource, and notes the event. A submission that changes nothing writes
 * nothing and keeps the version. Must be called within `changing`. Throws Problem `invalid` for
 * a client that needs a secret and has none, and beyond a quota of the box.
 */
export async function store(
  connection: Connection,
  box: string,
  replacement: Replacement,
  note: NoteEvent,
): Promise<Written> {
  const { submission, current } = replacement;
  const { kind, id, resource, body } = submission;
  if (resource.resourceType === 'Client') {
    const fault = confidentialFault(resource, current?.hasSecret ?? false);
    if (fault !== undefined) throw new Problem('invalid', [fault]);
  }
  const secrets = secretsOf(replacement);
  if (current !== undefined && secrets === undefined && isDeepStrictEqual(current.body, body)) {
    return { stored: current, created: false };
  }
  // A new secret of a client, or its removal, makes all others invalid.
  const previous = secrets === undefined ? undefined : null;
  const write = { kind, id, body, secrets, previous, owner: undefined, digest: undefined };
  await withinQuota(connection, box, async () => {
    await storeResources(connection, box, await bumpVersion(connection, box), [write]);
  });
  const stored = await readResource(connection, box, write);
  if (stored === undefined) throw new Error(`${kind} ${id} was stored, and is not there`);
  note(storeEvent({ kind, id }, current?.body, body, secrets === undefined ? [] : ['secret']));
  return { stored, created: current === undefined };
}

/** Returns the secrets to store; undefined: the present ones stay. */
function secretsOf({ submission, current, hash }: Replacement): readonly string[] | undefined {
  const { secret } = submission;
  if (secret === undefined) return undefined;
  if (secret === null) return current?.hasSecret === true ? [] : undefined;
  if (hash === undefined) throw new TypeError('a secret that was not hashed');
  return [hash];
}

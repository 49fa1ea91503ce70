import { Problem } from '../../problem.ts';
import { readResource } from '../../db/resource/resource.ts';
import { changing } from './change.ts';
import type { ResourceServices, StoredKind } from '../services.ts';
import { store } from './store.ts';
import type { Written } from './store.ts';
import { readSubmission } from './submission.ts';

/** Creates a resource, whose id is in its body. Throws Problem `invalid`, `conflict` (the id is taken), and Outage. */
export async function postResource(
  services: ResourceServices,
  box: string,
  kind: StoredKind,
  value: unknown,
): Promise<Written> {
  const submission = readSubmission({ kind }, value, services.now());
  const { id, secret } = submission;
  const hash = typeof secret === 'string' ? await services.secrets.store(secret) : undefined;
  return changing(services, box, async (connection, note) => {
    const current = await readResource(connection, box, { kind, id });
    if (current !== undefined) {
      throw new Problem('conflict', [{ path: 'id', message: `is taken: ${kind} ${id} exists; replace it with PUT` }]);
    }
    return store(connection, box, { submission, current, hash }, note);
  });
}

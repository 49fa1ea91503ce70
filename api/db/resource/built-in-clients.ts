import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';

/** SQL: the IDs of the built-in clients, as the list of an IN. */
export const builtInIds = `(${BUILT_IN_CLIENTS.map((id) => `'${id}'`).join(', ')})`;

/**
 * SQL for the version in which a stored client with the ID of a built-in one was last deleted; 0: none ever was. What
 * was begun under an older version belongs to that client. `box` is the SQL of the box.
 */
export function builtInFrom(box: string): string {
  return `coalesce((SELECT max(d.version) FROM boxgate.tombstone d
                     WHERE d.box = ${box} AND d.kind = 'Client' AND d.id IN ${builtInIds}), 0)`;
}

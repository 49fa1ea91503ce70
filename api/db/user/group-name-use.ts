import type { Connection } from '../core/transaction.ts';

/** A resource that refers to a group by its name. */
export interface GroupNameUse {
  readonly kind: 'AccessPolicy' | 'Box';
  readonly id: string;
}

/**
 * Finds a policy that links the group of a name, or the settings of the box whose `registration.default_group` it is;
 * undefined if nothing refers to it. Policies come first, by id.
 */
export async function groupNameUse(
  connection: Connection,
  box: string,
  name: string,
): Promise<GroupNameUse | undefined> {
  const { rows } = await connection.query<GroupNameUse>(
    `SELECT kind, id FROM boxgate.resource
      WHERE box = $1 AND (kind = 'AccessPolicy' AND body -> 'link' @> $2::jsonb
                       OR kind = 'Box' AND body -> 'registration' ->> 'default_group' = $3)
      ORDER BY kind, id LIMIT 1`,
    [box, JSON.stringify([{ resourceType: 'Group', id: name }]), name],
  );
  return rows[0];
}

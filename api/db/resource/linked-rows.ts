import type { Link } from '../../../crds/links.ts';
import type { Connection } from '../core/transaction.ts';

/** Returns those of the links whose Client, User or Group (by id or by name) is not in the box. */
export async function missingLinks(
  connection: Connection,
  box: string,
  links: readonly Link[],
): Promise<readonly Link[]> {
  const { rows } = await connection.query<{ nth: string }>(
    `SELECT l.nth
       FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS l (type, id, nth)
      WHERE NOT CASE l.type
              WHEN 'Client' THEN EXISTS (SELECT FROM boxgate.resource r WHERE r.box = $1 AND r.kind = 'Client' AND r.id = l.id)
              WHEN 'User' THEN EXISTS (SELECT FROM boxgate.user u WHERE u.box = $1 AND u.id = ${numberOf('l.id')})
              ELSE EXISTS (SELECT FROM boxgate.group g WHERE g.box = $1 AND g.id = ${numberOf('l.id')})
                OR EXISTS (SELECT FROM boxgate.group g WHERE g.box = $1 AND g.name = l.id)
            END
      ORDER BY l.nth`,
    [box, links.map(({ resourceType }) => resourceType), links.map(({ id }) => id)],
  );
  return rows.flatMap(({ nth }) => links[Number(nth) - 1] ?? []);
}

/** SQL: the number that a text is as an id of ours; NULL for any other text. */
function numberOf(text: string): string {
  return `CASE WHEN ${text} ~ '^[1-9][0-9]{0,14}$' THEN ${text}::bigint END`;
}

import { inPortions } from '../../../process/in-portions.ts';
import type { ResourceKey } from './resource.ts';
import type { Connection } from '../core/transaction.ts';

/** The bytes of a resource as its quota counts them: as stored (0 if it is not), and as it is to be stored. */
export interface MeasuredBody {
  readonly before: number;
  readonly after: number;
}

/** A resource to be stored, or a group, whose id is its name here; `body` without its secret. */
export interface BodyToMeasure extends ResourceKey {
  readonly body: object;
}

/** Bounds the memory of one statement. */
const bodiesInStatement = 1_000;

/** Measures resources before they are stored, in their order. Only Postgres can: it writes JSON in its own way. */
export async function measureBodies(
  connection: Connection,
  box: string,
  bodies: readonly BodyToMeasure[],
): Promise<readonly MeasuredBody[]> {
  const measured: MeasuredBody[] = [];
  for (const part of inPortions(bodies, bodiesInStatement))
    measured.push(...(await measurePart(connection, box, part)));
  return measured;
}

async function measurePart(
  connection: Connection,
  box: string,
  bodies: readonly BodyToMeasure[],
): Promise<readonly MeasuredBody[]> {
  const { rows } = await connection.query<{ before: string; after: string }>(
    `SELECT CASE WHEN n.kind = 'Group' THEN octet_length(concat(g.name, g.description))
                 ELSE coalesce(boxgate.bytes_of(r.body), 0) END AS before,
            CASE WHEN n.kind = 'Group'
                 THEN octet_length(concat(n.body::jsonb ->> 'name', n.body::jsonb ->> 'description'))
                 ELSE boxgate.bytes_of(n.body::jsonb) END AS after
       FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS n (kind, id, body, nth)
       LEFT JOIN boxgate.resource r ON r.box = $1 AND r.kind = n.kind AND r.id = n.id
       LEFT JOIN boxgate.group g ON g.box = $1 AND n.kind = 'Group' AND g.name = n.id
      ORDER BY n.nth`,
    [box, bodies.map(({ kind }) => kind), bodies.map(({ id }) => id), bodies.map(({ body }) => JSON.stringify(body))],
  );
  return rows.map(({ before, after }) => ({ before: Number(before), after: Number(after) }));
}

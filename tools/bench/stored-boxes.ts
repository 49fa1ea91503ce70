import { hash } from 'node:crypto';
import { generateClientSecret } from '../../api/credentials/secret-text.ts';
import type { Boxgate } from './boxgate.ts';
import type { BenchContext } from './context.ts';
import type { Credentials } from './load/requests.ts';

/** A client and its box. */
export interface ClientOfBox {
  readonly box: string;
  readonly client: Credentials;
}

/** Stores boxes, each with so many clients with generated secrets; returns the clients, box by box. */
export async function storeBoxes(
  context: BenchContext,
  { database }: Boxgate,
  boxes: readonly string[],
  clientsOfEach: number,
): Promise<readonly ClientOfBox[]> {
  const query = (text: string, values: unknown[] = []) => context.postgres.query(database, text, values);
  const made = boxes.flatMap((box) =>
    Array.from({ length: clientsOfEach }, (_, nth): ClientOfBox => ({
      box,
      client: { id: `client-${nth}`, secret: generateClientSecret() },
    })),
  );
  await query('INSERT INTO boxgate.box (box) SELECT unnest($1::text[])', [boxes]);
  const columns = [
    made.map(({ box }) => box),
    made.map(({ client }) => client.id),
    made.map(({ client }) => `$sha256$${hash('sha256', client.secret, 'hex')}`),
  ];
  await query(
    `INSERT INTO boxgate.resource (box, kind, id, version, body, secrets, content)
     SELECT n.box, 'Client', n.id, b.config_version,
            jsonb_build_object('resourceType', 'Client', 'id', n.id, 'grant_types', '["client_credentials"]'::jsonb),
            ARRAY[n.secret], ''
       FROM unnest($1::text[], $2::text[], $3::text[]) AS n (box, id, secret) JOIN boxgate.box b USING (box)`,
    columns,
  );
  await query('VACUUM (ANALYZE) boxgate.resource');
  await query('VACUUM (ANALYZE) boxgate.box');
  return made;
}

/** Returns one after another from each box in turn, so that neighbours are of different boxes. */
export function boxByBox(clients: readonly ClientOfBox[], clientsOfEach: number): readonly ClientOfBox[] {
  return Array.from({ length: clientsOfEach }, (_, nth) =>
    clients.filter((_one, place) => place % clientsOfEach === nth),
  ).flat();
}

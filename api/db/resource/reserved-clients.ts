import pg from 'pg';
import { RESERVED_ID_PREFIX } from '../../../crds/reserved-ids.ts';

/** A stored client whose ID is reserved. */
export interface ReservedClient {
  readonly box: string;
  readonly id: string;
}

/** Reads the clients of all boxes whose ID is reserved, as the owner of the database, who sees every box. */
export async function readReservedClients(ownerUrl: string): Promise<readonly ReservedClient[]> {
  const owner = new pg.Client({ connectionString: ownerUrl, application_name: 'boxgate-check-ids' });
  await owner.connect();
  try {
    const { rows } = await owner.query<ReservedClient>(
      `SELECT box, id FROM boxgate.resource WHERE kind = 'Client' AND starts_with(id, $1) ORDER BY box, id`,
      [RESERVED_ID_PREFIX],
    );
    return rows;
  } finally {
    await owner.end();
  }
}

import pg from 'pg';

/** The email of a user as stored, and its normal form when the row was written. */
export interface StoredEmail {
  readonly box: string;
  readonly id: number;
  readonly email: string;
  readonly emailKey: string;
}

/** Rows read at once. */
const pageSize = 1000;

/** Reads the emails of the users of all boxes, by box and id, as the owner of the database, who sees every box. */
export async function* readEmails(ownerUrl: string): AsyncGenerator<StoredEmail> {
  const owner = new pg.Client({ connectionString: ownerUrl, application_name: 'boxgate-check-emails' });
  await owner.connect();
  try {
    let page = await readPage(owner, '', 0);
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      yield* page;
      page = await readPage(owner, last.box, last.id);
    }
  } finally {
    await owner.end();
  }
}

async function readPage(owner: pg.Client, box: string, id: number): Promise<readonly StoredEmail[]> {
  const { rows } = await owner.query<{ box: string; id: string; email: string; email_key: string }>(
    'SELECT box, id, email, email_key FROM boxgate.user WHERE (box, id) > ($1, $2) ORDER BY box, id LIMIT $3',
    [box, id, pageSize],
  );
  return rows.map((row) => ({ box: row.box, id: Number(row.id), email: row.email, emailKey: row.email_key }));
}

import { expect } from 'chai';
import { exportedRows } from '../../../api/db/resource/exported-rows.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

describe('rows that are exported', () => {
  let database: BoxDatabase;
  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  it('come once each, page by page, in a database in which small and capital letters are sorted together', async () => {
    const { rows: order } = await database.owner.query(`SELECT 'a' < 'B' AS "isOfALanguage"`);
    expect(order).to.deep.equal([{ isOfALanguage: true }]);
    const ids = [1, 2, 3, 4, 5, 6].flatMap((nth) => [`B${String(nth)}`, `a${String(nth)}`]);
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body)
       SELECT 'default', 'Client', id, 1, '{}' FROM unnest($1::text[]) AS id`,
      [ids],
    );
    await database.owner.query(
      `INSERT INTO boxgate.group (box, id, name, version) SELECT 'default', nth, name, 1 FROM unnest($1::text[]) WITH ORDINALITY AS n (name, nth)`,
      [ids],
    );
    const found: string[] = [];
    for (let after = { kind: '', id: '' }, more = true; more;) {
      const page = await database.read((connection) => exportedRows(connection, 'default', after, 5));
      found.push(...page.rows.map(({ kind, id }) => `${kind} ${id}`));
      [after, more] = [page.rows.at(-1) ?? after, page.more];
    }
    const sorted = ids.toSorted();
    expect(found).to.deep.equal([...sorted.map((id) => `Client ${id}`), ...sorted.map((id) => `Group ${id}`)]);
  });
});

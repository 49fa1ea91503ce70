import { expect } from 'chai';
import { sqlWriteReader } from './sql-writes.ts';

describe('statements as writes', () => {
  const none = Buffer.alloc(0);

  it('are what changes rows, in the box of their transaction, and the commit of such', () => {
    const read = sqlWriteReader(new Set(['issue_sessions']));
    const statements = [
      "BEGIN; SET LOCAL boxgate.box = 'shop'",
      'SELECT epoch FROM boxgate.operator_epoch WHERE cluster = $1 FOR SHARE',
      'INSERT INTO boxgate.box (box) VALUES ($1) ON CONFLICT DO NOTHING',
      'WITH gone AS (DELETE FROM boxgate.resource RETURNING id) INSERT INTO boxgate.tombstone SELECT FROM gone',
      'COMMIT',
    ];
    expect(statements.map((statement) => read(statement, none))).to.deep.equal([
      undefined,
      undefined,
      { what: 'SQL INSERT INTO box', box: 'shop' },
      { what: 'SQL DELETE FROM resource and INSERT INTO tombstone', box: 'shop' },
      { what: 'SQL COMMIT of INSERT INTO box, DELETE FROM resource and INSERT INTO tombstone', box: 'shop' },
    ]);
  });

  it('are none in a transaction that has only read, or is rolled back', () => {
    const read = sqlWriteReader(new Set());
    expect(read('BEGIN', none)).to.equal(undefined);
    expect(read('COMMIT', none)).to.equal(undefined);
    read('BEGIN', none);
    read('UPDATE boxgate.box SET x = 1', none);
    expect(read('ROLLBACK', none)).to.equal(undefined);
    expect(read('COMMIT', none)).to.equal(undefined);
  });

  it('are calls of functions that write, about the box in their first parameter', () => {
    const read = sqlWriteReader(new Set(['issue_sessions']));
    const statement = 'SELECT box FROM boxgate.issue_sessions($1)';
    expect(read(statement, Buffer.from('B\0\0{"shop"}\0'))).to.deep.equal({ what: 'SQL issue_sessions', box: 'shop' });
    expect(read('SELECT * FROM boxgate.check_sessions($1)', none)).to.equal(undefined);
  });
});

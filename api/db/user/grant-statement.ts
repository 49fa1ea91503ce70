import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement } from '../core/statement.ts';
import { storedGrant } from './grant.ts';
import type { GrantColumns, GrantKey, StoredGrant } from './grant.ts';

/** Key of a grant among all boxes. */
export interface GrantOfBox extends GrantKey {
  readonly box: string;
}

const reading = fixedText('SELECT * FROM boxgate.read_grants($1,$2,$3)');

/** Reads grants to stored clients; one that is not found may be large or to a built-in client: a transaction looks. */
export const findGrant: Statement<GrantOfBox, ReadRecord<StoredGrant>> = {
  boxOf: ({ box }) => box,
  run: async (db, keys) => {
    const rows = await db.rows<GrantColumns & RowOfItem>(reading, [
      arrayLiteral(keys, ({ box }) => quoted(box)),
      arrayLiteral(keys, ({ user }) => String(user)),
      arrayLiteral(keys, ({ client }) => quoted(client)),
    ]);
    return answersOf(keys, rows, (row) =>
      row === undefined ? { row, isForTransaction: true } : { row: storedGrant(row) },
    );
  },
};

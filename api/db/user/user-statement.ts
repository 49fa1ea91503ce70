import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';
import { sharedUserColumns, storedUser } from './user.ts';
import type { StoredUser, UserColumns } from './user.ts';

/** Key of a user among all boxes. */
export interface UserOfBox {
  readonly box: string;
  readonly id: number;
}

/** Reads users by their IDs. */
export const findUser: Statement<UserOfBox, ReadRecord<StoredUser>> = { run: readAll, boxOf: ({ box }) => box };

const reading = fixedText(`SELECT ${sharedUserColumns} FROM boxgate.read_users($1,$2)`);

interface ReadRow extends UserColumns, RowOfItem {
  readonly is_large: boolean;
}

async function readAll(
  db: StatementConnection,
  keys: readonly UserOfBox[],
): Promise<readonly ReadRecord<StoredUser>[]> {
  const rows = await db.rows<ReadRow>(reading, [
    arrayLiteral(keys, ({ box }) => quoted(box)),
    arrayLiteral(keys, ({ id }) => String(id)),
  ]);
  return answersOf(keys, rows, (row) => {
    if (row === undefined) return { row };
    return row.is_large ? { row: undefined, isForTransaction: true } : { row: storedUser(row) };
  });
}

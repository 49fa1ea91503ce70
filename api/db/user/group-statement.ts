import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement } from '../core/statement.ts';
import { storedGroup } from './group.ts';
import type { GroupColumns, StoredGroup } from './group.ts';

/** Key of a group among all boxes. */
export interface GroupOfBox {
  readonly box: string;
  readonly id: number;
}

const reading = fixedText('SELECT * FROM boxgate.read_groups($1,$2)');

interface ReadRow extends Omit<GroupColumns, 'members'>, RowOfItem {
  /** Null if they are too many to be counted with those of other groups. */
  readonly members: string | null;
}

/** Reads groups by their IDs. */
export const findGroup: Statement<GroupOfBox, ReadRecord<StoredGroup>> = {
  boxOf: ({ box }) => box,
  run: async (db, keys) => {
    const rows = await db.rows<ReadRow>(reading, [
      arrayLiteral(keys, ({ box }) => quoted(box)),
      arrayLiteral(keys, ({ id }) => String(id)),
    ]);
    return answersOf(keys, rows, (row) => {
      if (row === undefined) return { row };
      const { members } = row;
      return members === null ? { row: undefined, isForTransaction: true } : { row: storedGroup({ ...row, members }) };
    });
  },
};

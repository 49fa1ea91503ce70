import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { firstPageStatement } from '../core/first-page.ts';
import type { FirstPageOfBox, FirstPageRow } from '../core/first-page.ts';
import { fixedText } from '../core/statement.ts';
import { listedUser } from './user-search.ts';
import type { ListedColumns, ListedUser } from './user-search.ts';

const reading = fixedText('SELECT * FROM boxgate.first_users($1,$2)');

type Columns = ListedColumns & FirstPageRow;

/** Reads first pages of users, by ID. */
export const firstUsers = firstPageStatement<FirstPageOfBox, Columns, ListedUser>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: listedUser,
});

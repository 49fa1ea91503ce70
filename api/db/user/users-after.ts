import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { pageStatement } from '../core/page-statement.ts';
import type { PageRow, PageOfBox } from '../core/page-statement.ts';
import { fixedText } from '../core/statement.ts';
import { sharedUserColumns } from './user.ts';
import { listedUser } from './user-search.ts';
import type { ListedColumns, ListedUser } from './user-search.ts';

const reading = fixedText(`SELECT ${sharedUserColumns}, total, email_key FROM boxgate.users_after($1,$2,$3)`);

type Columns = ListedColumns & PageRow;

/** Reads pages of users, by ID. */
export const usersAfter = pageStatement<PageOfBox, Columns, ListedUser>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ after }) => after?.[0] ?? '0'),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: listedUser,
});

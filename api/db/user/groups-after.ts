import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { pageStatement } from '../core/page-statement.ts';
import type { PageRow, PageOfBox } from '../core/page-statement.ts';
import { fixedText } from '../core/statement.ts';
import { storedGroup } from './group.ts';
import type { GroupColumns, StoredGroup } from './group.ts';

const reading = fixedText('SELECT * FROM boxgate.groups_after($1,$2,$3)');

type Columns = GroupColumns & PageRow;

/** Reads pages of groups, by ID. */
export const groupsAfter = pageStatement<PageOfBox, Columns, StoredGroup>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ after }) => after?.[0] ?? '0'),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: storedGroup,
});

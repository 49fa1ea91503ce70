import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { firstPageStatement } from '../core/first-page.ts';
import type { FirstPageOfBox, FirstPageRow } from '../core/first-page.ts';
import { fixedText } from '../core/statement.ts';
import { storedGroup } from './group.ts';
import type { GroupColumns, StoredGroup } from './group.ts';

const reading = fixedText('SELECT * FROM boxgate.first_groups($1,$2)');

type Columns = GroupColumns & FirstPageRow;

/** Reads first pages of groups, by ID. */
export const firstGroups = firstPageStatement<FirstPageOfBox, Columns, StoredGroup>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: storedGroup,
});

import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { pageStatement } from '../core/page-statement.ts';
import type { PageRow, PageOfBox } from '../core/page-statement.ts';
import { countedTogether } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import { storedGrant } from './grant.ts';
import type { GrantColumns, StoredGrant } from './grant.ts';

const reading = fixedText('SELECT * FROM boxgate.grants_after($1,$2,$3,$4,$5,$6)');

type Columns = GrantColumns & PageRow;

/** Reads pages of grants, by user and client (`after` has both), of boxes with few grants. */
export const grantsAfter = pageStatement<PageOfBox, Columns, StoredGrant>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ after }) => after?.[0] ?? '0'),
      arrayLiteral(searches, ({ after }) => quoted(after?.[1] ?? '')),
      arrayLiteral(searches, ({ limit }) => String(limit)),
      String(countedTogether),
      arrayLiteral(BUILT_IN_CLIENTS, quoted),
    ]),
  rowOf: storedGrant,
});

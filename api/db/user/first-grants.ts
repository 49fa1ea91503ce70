import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { firstPageStatement } from '../core/first-page.ts';
import type { FirstPageOfBox, FirstPageRow } from '../core/first-page.ts';
import { countedTogether } from '../core/newest-pages.ts';
import { fixedText } from '../core/statement.ts';
import { storedGrant } from './grant.ts';
import type { GrantColumns, StoredGrant } from './grant.ts';

const reading = fixedText('SELECT * FROM boxgate.first_grants($1,$2,$3,$4)');

type Columns = GrantColumns & FirstPageRow;

/** Reads first pages of grants, by user and client, of boxes with few grants. */
export const firstGrants = firstPageStatement<FirstPageOfBox, Columns, StoredGrant>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ limit }) => String(limit)),
      String(countedTogether),
      arrayLiteral(BUILT_IN_CLIENTS, quoted),
    ]),
  rowOf: storedGrant,
});

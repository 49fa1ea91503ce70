import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { CountedDefinition, CountedRow, CountedSearch } from '../core/counted-pages.ts';
import type { PageOfBox } from '../core/page-statement.ts';
import { fixedText } from '../core/statement.ts';
import { storedGrant } from './grant.ts';
import type { GrantColumns, StoredGrant } from './grant.ts';

/** Search for grants of a box, by user and client: `after` has both. */
export type GrantsOfBox = CountedSearch & PageOfBox;

const reading = fixedText('SELECT * FROM boxgate.grant_pages($1,$2,$3,$4,$5,$6)');

type Columns = GrantColumns & CountedRow;

/** Grants of a box, by user and client. */
export const grantsAfter: CountedDefinition<GrantsOfBox, Columns, StoredGrant> = {
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ after }) => after?.[0] ?? '0'),
      arrayLiteral(searches, ({ after }) => quoted(after?.[1] ?? '')),
      arrayLiteral(searches, ({ limit }) => String(limit)),
      arrayLiteral(searches, ({ most }) => String(most)),
      arrayLiteral(BUILT_IN_CLIENTS, quoted),
    ]),
  rowOf: storedGrant,
  isFirst: ({ after }) => after === undefined,
};

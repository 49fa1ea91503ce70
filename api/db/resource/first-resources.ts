import type { Kind } from '../../../crds/kind.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { firstPageStatement } from '../core/first-page.ts';
import type { FirstPageOfBox, FirstPageRow } from '../core/first-page.ts';
import { fixedText } from '../core/statement.ts';
import { resourceInText } from './resource-statement.ts';
import type { ResourceInText } from './resource-statement.ts';
import type { StoredResource } from './resource.ts';

/** Search for the first resources of one kind. */
export interface FirstResourcesOfBox extends FirstPageOfBox {
  readonly kind: Kind;
}

const reading = fixedText('SELECT * FROM boxgate.first_resources($1,$2,$3)');

type Columns = ResourceInText & FirstPageRow;

/** Reads first pages of resources, by ID. */
export const firstResources = firstPageStatement<FirstResourcesOfBox, Columns, StoredResource>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ kind }) => quoted(kind)),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: resourceInText,
});

import type { Kind } from '../../../crds/kind.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { pageStatement } from '../core/page-statement.ts';
import type { PageRow, PageOfBox } from '../core/page-statement.ts';
import { fixedText } from '../core/statement.ts';
import { resourceInText } from './resource-statement.ts';
import type { ResourceInText } from './resource-statement.ts';
import type { StoredResource } from './resource.ts';

/** Search for resources of one kind. */
export interface ResourcesOfBox extends PageOfBox {
  readonly kind: Kind;
}

const reading = fixedText('SELECT * FROM boxgate.resources_after($1,$2,$3,$4)');

type Columns = ResourceInText & PageRow;

/** Reads pages of resources, by ID. */
export const resourcesAfter = pageStatement<ResourcesOfBox, Columns, StoredResource>({
  read: (db, searches) =>
    db.rows<Columns>(reading, [
      arrayLiteral(searches, ({ box }) => quoted(box)),
      arrayLiteral(searches, ({ kind }) => quoted(kind)),
      arrayLiteral(searches, ({ after }) => quoted(after?.[0] ?? '')),
      arrayLiteral(searches, ({ limit }) => String(limit)),
    ]),
  rowOf: resourceInText,
});

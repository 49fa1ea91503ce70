import { isObject, parseJson } from '../../../crds/json-value.ts';
import { answersOf, type RowOfItem } from '../core/answers.ts';
import { arrayLiteral, quoted } from '../core/array-literal.ts';
import type { ReadRecord } from '../core/read-record.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';
import { storedResource } from './resource.ts';
import type { ResourceColumns, ResourceKey, StoredResource } from './resource.ts';

/** Key of a resource among all boxes. */
export interface ResourceOfBox extends ResourceKey {
  readonly box: string;
}

/** Reads resources by their keys. */
export const findResource: Statement<ResourceOfBox, ReadRecord<StoredResource>> = {
  run: readAll,
  boxOf: ({ box }) => box,
};

const reading = fixedText('SELECT * FROM boxgate.read_resources($1,$2,$3)');

/** A row of a resource whose body is JSON text; null if it is too large. */
export interface ResourceInText extends Omit<ResourceColumns, 'body'> {
  readonly body: string | null;
}

type ReadRow = ResourceInText & RowOfItem;

async function readAll(
  db: StatementConnection,
  keys: readonly ResourceOfBox[],
): Promise<readonly ReadRecord<StoredResource>[]> {
  const rows = await db.rows<ReadRow>(reading, [
    arrayLiteral(keys, ({ box }) => quoted(box)),
    arrayLiteral(keys, ({ kind }) => quoted(kind)),
    arrayLiteral(keys, ({ id }) => quoted(id)),
  ]);
  return answersOf(keys, rows, (row) => {
    if (row === undefined) return { row };
    if (row.body === null) return { row: undefined, isForTransaction: true };
    return { row: resourceInText(row) };
  });
}

/** Converts a row whose body is text. */
export function resourceInText(row: ResourceInText): StoredResource {
  // A body is always an object.
  const body = parseJson(row.body ?? '');
  if (!isObject(body)) throw new TypeError('the body of a resource is no object');
  return storedResource({ ...row, body });
}

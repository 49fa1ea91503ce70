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

/** A row of the function; `body` is JSON. */
interface ReadRow extends Omit<ResourceColumns, 'body'>, RowOfItem {
  readonly body: string | null;
}

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
    return { row: storedResource({ ...row, body: parsed(row.body) }) };
  });
}

/** Parses the body of a resource, which is always an object. */
function parsed(body: string): ResourceColumns['body'] {
  const value = parseJson(body);
  if (!isObject(value)) throw new TypeError('the body of a resource is no object');
  return value;
}

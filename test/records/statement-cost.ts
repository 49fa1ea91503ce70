import { isObject } from '../../crds/path.ts';
import type { Connection } from '../../api/db/core/transaction.ts';

/** Cost of a statement: the database pages that it touched, and the scans of its plan. */
export interface Cost {
  readonly buffers: number;
  readonly scans: readonly { readonly type: string; readonly table: string }[];
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs work on a connection that notes its statements, and explains the last of them. */
export async function costOf(connection: Connection, work: (noting: Connection) => Promise<unknown>): Promise<Cost> {
  const statements: Statement[] = [];
  const noting = new Proxy(connection, {
    get(target, name) {
      if (name !== 'query') {
        const own: unknown = Reflect.get(target, name);
        return own;
      }
      return (text: string, values: unknown[]) => {
        statements.push({ text, values });
        return target.query(text, values);
      };
    },
  });
  await work(noting);
  const last = statements.at(-1);
  const { rows } = await connection.query<{ 'QUERY PLAN': readonly unknown[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${last?.text ?? ''}`,
    [...(last?.values ?? [])],
  );
  const top = rows[0]?.['QUERY PLAN'][0];
  const plan = isObject(top) && isObject(top['Plan']) ? top['Plan'] : {};
  return { buffers: Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']), scans: scansIn(plan) };
}

function scansIn(plan: Readonly<Record<string, unknown>>): Cost['scans'] {
  const below = Array.isArray(plan['Plans']) ? plan['Plans'].filter(isObject) : [];
  const [type, table] = [plan['Node Type'], plan['Relation Name']];
  const own = typeof type === 'string' && typeof table === 'string' ? [{ type, table }] : [];
  return [...own, ...below.flatMap(scansIn)];
}

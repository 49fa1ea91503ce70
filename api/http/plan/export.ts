import { exportedRows } from '../../db/resource/exported-rows.ts';
import type { ExportedRow } from '../../db/resource/exported-rows.ts';
import { inBox } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { EXPORT_PATH } from '../resources/explained-request.ts';
import type { ResourceHandler } from '../resources/resource-exchange.ts';

/** Rows of one page. */
const page = 500;

/**
 * `GET /$export`: the settings, groups, clients, policies and quotas of a box, each with the object that declares it;
 * by kind and id, a page at a time (RFC 8288). A client's secret is not shown, only whether there is one.
 */
export const exportHandler: ResourceHandler = async ({ box, baseUrl, query }, { pool }) => {
  const after = placeIn(query);
  const { rows, more } = await inBox(pool, box, 'snapshot', (connection) => exportedRows(connection, box, after, page));
  const last = rows.at(-1);
  const next = more && last !== undefined ? `${baseUrl}${EXPORT_PATH}?_after=${placeOf(last)}` : undefined;
  const headers = next === undefined ? {} : { Link: `<${next}>; rel="next"` };
  return { status: 200, headers, page: { bundle: undefined, items: shownRows(rows) } };
};

function placeOf({ kind, id }: ExportedRow): string {
  return encodeURIComponent(`${kind}/${id}`);
}

/** Returns the row after which the page begins. Throws Problem `bad-request`. */
function placeIn(query: URLSearchParams): Pick<ExportedRow, 'kind' | 'id'> {
  const unknown = [...query.keys()].find((name) => name !== '_after');
  if (unknown !== undefined) throw new Problem('bad-request', [{ path: unknown, message: 'is not a known parameter' }]);
  const [, kind, id] = /^([A-Za-z]+)\/(.+)$/s.exec(query.get('_after') ?? '') ?? [];
  if (kind !== undefined && id !== undefined) return { kind, id };
  if (!query.has('_after')) return { kind: '', id: '' };
  throw new Problem('bad-request', [{ path: '_after', message: 'must be the kind and id of a resource' }]);
}

function* shownRows(rows: readonly ExportedRow[]): Generator<object> {
  for (const { kind, id, body, hasSecret, object, retain, purge, firstAdmin } of rows) {
    yield {
      kind,
      id,
      ...(object === undefined ? {} : { object }),
      ...(retain ? { retain } : {}),
      ...(purge ? { purge } : {}),
      ...(kind === 'Client' ? { has_secret: hasSecret } : {}),
      ...(firstAdmin === undefined ? {} : { bootstrap_admin: { email: firstAdmin } }),
      resource: body,
    };
  }
}

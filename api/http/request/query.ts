import { Problem } from '../../problem.ts';

/** Maximum number of parameters of a query. */
export const MOST_PARAMETERS = 1_000;

/** Returns the parameters in the query of a path; none without a query. Throws Problem `bad-request` for too many. */
export function queryOf(path: string): URLSearchParams {
  const at = path.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : path.slice(at + 1));
  if (query.size <= MOST_PARAMETERS) return query;
  throw new Problem('bad-request', `The query has more than ${String(MOST_PARAMETERS)} parameters`);
}

/** Returns the parameters of a query as policies see them: text, or a list if one is repeated. */
export function parameters(query: URLSearchParams): Record<string, unknown> {
  const found = new Map<string, string | string[]>();
  for (const [name, value] of query) {
    const before = found.get(name);
    if (Array.isArray(before)) before.push(value);
    else found.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(found);
}

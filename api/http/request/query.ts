import { Problem } from '../../problem.ts';

/** Checks whether the path of a URL is text: ASCII (RFC 3986 §2) that decodes as UTF-8 without control characters. */
export function isTextPath(url: string): boolean {
  const path = pathOf(url);
  if (plain.test(path)) return true;
  try {
    return ascii.test(path) && !/\p{Cc}/u.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

const plain = /^[A-Za-z0-9/$._~-]*$/;
const ascii = /^[\x21-\x7e]*$/;

/**
 * Returns a path in its one normal form (RFC 3986 §6.2.2): no needless escapes, upper-case digits in the others, no
 * query. Two spellings of one id are one path to a policy.
 */
export function normalPath(url: string): string {
  const path = pathOf(url);
  if (!path.includes('%')) return path;
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const sign = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(sign) ? sign : escape.toUpperCase();
  });
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}

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
  const found = new Map<string, string[]>();
  for (const [name, value] of query) {
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(Array.from(found, ([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

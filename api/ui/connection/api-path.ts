declare const built: unique symbol;

/**
 * The path of a request below the issuer, possibly with a query. Only the functions of this file return one: a request
 * takes no other text, so that an ID of an address or a record cannot lead to another path.
 */
export type ApiPath = string & { readonly [built]: true };

/** Returns a path whose values are encoded, each of them as one segment or one value of the query (RFC 3986 §2.4). */
export function apiPath(texts: TemplateStringsArray, ...values: readonly string[]): ApiPath {
  return checked(texts.map((text, nth) => text + encoded(values[nth] ?? '')).join(''));
}

/** Returns the path of one record of a collection. */
export function recordPath(collection: ApiPath, id: string): ApiPath {
  return checked(`${collection}/${encoded(id)}`);
}

/** Returns the path of a list whose records have this value in a field, without their total. */
export function searchPath(list: ApiPath, field: string, value: string): ApiPath {
  return checked(`${list}&_total=none&${encoded(field)}=${encoded(value)}`);
}

/** Returns the path of a list in an order. */
export function sortedPath(list: ApiPath, field: string, isDescending: boolean): ApiPath {
  return checked(`${list}&_sort=${isDescending ? '-' : ''}${encoded(field)}`);
}

/** Returns a path with another query, which begins with `?`. */
export function withQuery(path: ApiPath, query: string): ApiPath {
  return checked(path.replace(/\?.*/s, '') + query);
}

function encoded(value: string): string {
  // A browser resolves the segments `.` and `..`, also as `%2E`: so encoded they are the ID of no record.
  if (value === '.' || value === '..') return value.replaceAll('.', '%252E');
  return encodeURIComponent(value.toWellFormed());
}

function checked(text: string): ApiPath {
  if (!isBuilt(text)) throw new TypeError(`not a path of the API: ${text}`);
  return text;
}

function isBuilt(text: string): text is ApiPath {
  const [path = ''] = text.split('?');
  return /^(?:\/(?!\.{1,2}(?:\/|$))[^/#]+)+\/?$/.test(path);
}

const PLAIN_NAME = /^[A-Za-z_$][\w$-]{0,127}$/;

/** Returns the path of a member: `auth.implicit`, `link[2]`, or `details["a b"]` if the name is not a plain word. */
export function memberPath(parent: string, key: string, inArray: boolean): string {
  if (inArray) return `${parent}[${key}]`;
  if (!PLAIN_NAME.test(key)) return `${parent}[${JSON.stringify(shortened(key))}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Returns the dotted path of a JSON pointer (RFC 6901) into `root`. */
export function dottedPath(pointer: string, root: unknown): string {
  let path = '';
  let here: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path = memberPath(path, key, Array.isArray(here));
    here = member(here, key);
  }
  return path;
}

/** Checks whether two paths are equal or one lies below the other. */
export function isNested(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(path: string, parent: string): boolean {
  if (parent === '' || path === parent) return true;
  return path.startsWith(parent) && (path[parent.length] === '.' || path[parent.length] === '[');
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  const found: unknown = Reflect.get(value, key);
  return found;
}

function shortened(key: string): string {
  return key.length <= 64 ? key : `${key.slice(0, 63)}…`;
}

/** A JSON object whose members are not known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Checks whether a value is a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks whether a value is a JSON array; nothing is known about its elements. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Returns the value of a JSON text; undefined if it is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

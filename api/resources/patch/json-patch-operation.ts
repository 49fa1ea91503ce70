import { isObject } from '../../../crds/json-value.ts';
import { Problem } from '../../problem.ts';

/** The names on the way to a value (RFC 6901); none for the whole document. */
export type Pointer = readonly string[];

/** One operation of a JSON Patch, RFC 6902 §4. */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly from: Pointer; readonly path: Pointer };

/** Reads the operation at `index` of a patch; unknown members are ignored (§4). Throws Problem `not-parsable`. */
export function readOperation(value: unknown, index: number): Operation {
  const place = `[${String(index)}]`;
  if (!isObject(value)) throw malformed(place, 'must be an object');
  const path = readPointer(value['path'], `${place}.path`);
  const { op } = value;
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(value, 'value')) throw malformed(`${place}.value`, 'must be given');
      return { op, path, value: value['value'] };
    case 'remove':
      return { op, path };
    case 'move':
    case 'copy':
      return { op, path, from: readPointer(value['from'], `${place}.from`) };
    default:
      throw malformed(`${place}.op`, 'must be one of add, remove, replace, move, copy, test');
  }
}

function readPointer(value: unknown, place: string): Pointer {
  if (value === '') return [];
  if (typeof value !== 'string' || !/^\/(?:[^~]|~[01])*$/s.test(value)) {
    throw malformed(place, 'must be a JSON Pointer such as /name (RFC 6901)');
  }
  return value
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function malformed(path: string, message: string): Problem {
  return new Problem('not-parsable', [{ path, message }]);
}

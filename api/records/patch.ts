import { isObject } from '../../crds/path.ts';
import { isDeepStrictEqual } from 'node:util';
import { textFaults } from '../../crds/text.ts';
import { Problem } from '../problem.ts';

const mostOperations = 1000;
/** Characters of JSON that all `copy` operations may add: each can double the document (measured: 1 s per million). */
const mostCopied = 131_072;

/**
 * Applies a JSON Patch (RFC 6902) to a copy of a document. Throws Problem `not-parsable` for a malformed patch,
 * `conflict` for one that does not fit the document (RFC 5789 §2.2), `invalid` for one beyond the limits. This is our
 * own, because existing libraries follow a path into inherited members (`/toString/call`).
 */
export function jsonPatch(document: unknown, operations: readonly unknown[]): unknown {
  if (operations.length > mostOperations) {
    throw new Problem('invalid', `The patch has more than ${String(mostOperations)} operations`);
  }
  const patching = new Patching(structuredClone(document));
  for (const [index, value] of operations.entries()) patching.apply(readOperation(value, index), index);
  return patching.document;
}

class Patching {
  document: unknown;
  #copied = 0;
  #index = 0;

  constructor(document: unknown) {
    this.document = document;
  }

  apply(operation: Operation, index: number): void {
    this.#index = index;
    switch (operation.op) {
      case 'add':
        this.#add(operation.path, structuredClone(operation.value));
        break;
      case 'remove':
        this.#remove(operation.path);
        break;
      case 'replace':
        this.#replace(operation.path, structuredClone(operation.value));
        break;
      case 'move':
        this.#move(operation.from, operation.path);
        break;
      case 'copy':
        this.#add(operation.path, this.#copyOf(operation.from));
        break;
      case 'test':
        this.#test(operation.path, operation.value);
    }
  }

  #read(path: Pointer): unknown {
    let here = this.document;
    for (const name of path) here = this.#member(here, name);
    return here;
  }

  #member(parent: unknown, name: string): unknown {
    if (Array.isArray(parent)) {
      const found: unknown = parent[this.#indexIn(parent, name, parent.length - 1)];
      return found;
    }
    if (!isObject(parent) || !Object.hasOwn(parent, name)) throw this.#refusal('does not exist');
    return parent[name];
  }

  #add(path: Pointer, value: unknown): void {
    const name = path.at(-1);
    if (name === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#read(path.slice(0, -1));
    if (Array.isArray(parent)) {
      parent.splice(name === '-' ? parent.length : this.#indexIn(parent, name, parent.length), 0, value);
    } else if (isObject(parent)) setOwn(parent, name, value);
    else throw this.#refusal('does not exist');
  }

  #remove(path: Pointer): unknown {
    const name = path.at(-1);
    if (name === undefined) throw this.#refusal('must not be the whole document');
    const parent = this.#read(path.slice(0, -1));
    const removed = this.#member(parent, name);
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else if (isObject(parent)) Reflect.deleteProperty(parent, name);
    return removed;
  }

  #replace(path: Pointer, value: unknown): void {
    const name = path.at(-1);
    if (name === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#read(path.slice(0, -1));
    this.#member(parent, name);
    if (Array.isArray(parent)) parent[Number(name)] = value;
    else if (isObject(parent)) setOwn(parent, name, value);
  }

  #move(from: Pointer, path: Pointer): void {
    // RFC 6902 §4.4: not into its own child.
    if (from.length < path.length && from.every((name, index) => name === path[index])) {
      throw this.#refusal('must not lie within what is moved');
    }
    this.#add(path, from.length === 0 ? this.document : this.#remove(from));
  }

  #test(path: Pointer, value: unknown): void {
    if (!isDeepStrictEqual(this.#read(path), value)) throw this.#refusal('does not hold the value of the test');
  }

  #copyOf(from: Pointer): unknown {
    const value = this.#read(from);
    // The depth is checked first, by a walk that does not recurse: the next step does.
    if (textFaults(value).length > 0) throw this.#tooMuch();
    this.#copied += JSON.stringify(value).length;
    if (this.#copied > mostCopied) throw this.#tooMuch();
    return structuredClone(value);
  }

  #indexIn(list: readonly unknown[], name: string, last: number): number {
    const index = /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : Number.NaN;
    if (!(index <= last)) throw this.#refusal(`does not exist: the list has ${String(list.length)} elements`);
    return index;
  }

  #refusal(message: string): Problem {
    return new Problem('conflict', [{ path: `[${String(this.#index)}].path`, message }]);
  }

  #tooMuch(): Problem {
    return new Problem('invalid', [{ path: `[${String(this.#index)}]`, message: 'copies too much' }]);
  }
}

/** Defines an own member, even one with the name of an inherited one. */
function setOwn(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

/** The names on the way to a value (RFC 6901); none for the whole document. */
type Pointer = readonly string[];

/** One operation of a JSON Patch, RFC 6902 §4. */
type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly from: Pointer; readonly path: Pointer };

/** Reads the operation at `index` of a patch; unknown members are ignored (§4). Throws Problem `not-parsable`. */
function readOperation(value: unknown, index: number): Operation {
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

/** Applies a merge patch (RFC 7396 §2): `null` removes a member, objects merge, anything else replaces. Pure. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A Map, so that no name of a member can be mistaken for one of the prototype's.
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

import { isList, isObject } from '../../../crds/path.ts';
import { celList, celMap } from '@bufbuild/cel';
import type { CelInput } from '@bufbuild/cel';
import { ownMember } from '../json-value.ts';
import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';

/** The variables of an expression with their CEL types; a part that the request does not have is null. */
export const VARIABLES = {
  request_method: 'string',
  uri: 'string',
  params: 'map',
  headers: 'map',
  remote_addr: 'string',
  box: 'string',
  time: 'int',
  body: 'dyn',
  changes: 'dyn',
  resource: 'dyn',
  client: 'dyn',
  user: 'dyn',
  session: 'dyn',
  token: 'dyn',
} as const;

/** Name of the variable that {@link checkExpression} puts before each turn of a loop; no expression can write it. */
export const UNSPENT = '@unspent';

/** Thrown where an expression reads the address of a caller that nobody has told. */
export class UnknownAddress extends Error {
  override readonly name = 'UnknownAddress';
}

/**
 * The request object as CEL sees it: `-` is minus there, so `request-method` is called `request_method`. A part is
 * converted when an expression asks for it.
 */
export class CelVariables {
  readonly [variable: string]: CelInput;
  readonly #request: RequestObject;
  readonly #steps: Steps;

  static {
    for (const name of Object.keys(VARIABLES)) {
      const part = name.replace('_', '-');
      Object.defineProperty(this.prototype, name, {
        get(this: CelVariables) {
          return this.#read(part);
        },
      });
    }
  }

  constructor(request: RequestObject, steps: Steps) {
    this.#request = request;
    this.#steps = steps;
  }

  #read(part: string): CelInput {
    const value = ownMember(this.#request, part);
    // Neither null nor a text: `remote_addr != "192.0.2.1"` must not hold for a caller of unknown address.
    if (value === undefined && part === 'remote-addr') {
      throw new UnknownAddress('remote_addr is unknown: no trusted proxy has told it');
    }
    return celValue(value, this.#steps);
  }

  /** Returns true or throws. An error from a variable ends the evaluation; CEL may pass over one from a function. */
  get [UNSPENT](): CelInput {
    this.#steps.take(0);
    return true;
  }
}

/** Converts a JSON value. Whole numbers are `int`, as in Kubernetes: `user.id + 1` and `list[params.n]` work. */
function celValue(value: unknown, steps: Steps): CelInput {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isList(value)) {
    steps.take(value.length);
    return celList(value.map((element) => celValue(element, steps)));
  }
  return isObject(value) ? celMap(new ObjectMap(value, steps)) : null;
}

/**
 * A JSON object as a map that converts a member when it is requested: an expression mostly reads a few of them, and a
 * body may be large. Own members only.
 */
class ObjectMap implements ReadonlyMap<string, CelInput> {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #steps: Steps;

  constructor(object: Readonly<Record<string, unknown>>, steps: Steps) {
    this.#object = object;
    this.#steps = steps;
  }

  get size(): number {
    return this.#names().length;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#object, key);
  }

  /** CEL asks with keys of any type; JSON has text only. */
  get(key: unknown): CelInput | undefined {
    if (typeof key !== 'string' || !this.has(key)) return undefined;
    return celValue(this.#object[key], this.#steps);
  }

  keys(): MapIterator<string> {
    return this.#names().values();
  }

  values(): MapIterator<CelInput> {
    return this.#all().values();
  }

  entries(): MapIterator<[string, CelInput]> {
    return this.#all().entries();
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(visit: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    this.#all().forEach(visit);
  }

  #all(): ReadonlyMap<string, CelInput> {
    return new Map(this.#names().map((name) => [name, celValue(this.#object[name], this.#steps)]));
  }

  #names(): string[] {
    const names = Object.keys(this.#object);
    this.#steps.take(names.length / 8);
    return names;
  }
}

import { isList, isObject } from '../../../crds/path.ts';
import { celList, celMap } from '@bufbuild/cel';
import type { CelInput } from '@bufbuild/cel';
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
export class CelVariables implements Record<keyof typeof VARIABLES, CelInput> {
  readonly [variable: string]: CelInput;
  readonly #request: RequestObject;
  readonly #steps: Steps;

  constructor(request: RequestObject, steps: Steps) {
    this.#request = request;
    this.#steps = steps;
  }

  get request_method(): CelInput {
    return this.#request['request-method'];
  }

  get uri(): CelInput {
    return this.#request.uri;
  }

  get params(): CelInput {
    return celValue(this.#request.params, this.#steps);
  }

  get headers(): CelInput {
    return celValue(this.#request.headers, this.#steps);
  }

  get remote_addr(): CelInput {
    const address = this.#request['remote-addr'];
    // Neither null nor a text: `remote_addr != "192.0.2.1"` must not hold for a caller of unknown address.
    if (address === undefined) throw new UnknownAddress('remote_addr is unknown: no trusted proxy has told it');
    return address;
  }

  get box(): CelInput {
    return this.#request.box;
  }

  get time(): CelInput {
    return celValue(this.#request.time, this.#steps);
  }

  get body(): CelInput {
    return celValue(this.#request.body, this.#steps);
  }

  get changes(): CelInput {
    return celValue(this.#request.changes, this.#steps);
  }

  get resource(): CelInput {
    return celValue(this.#request.resource, this.#steps);
  }

  get client(): CelInput {
    return celValue(this.#request.client, this.#steps);
  }

  get user(): CelInput {
    return celValue(this.#request.user, this.#steps);
  }

  get session(): CelInput {
    return celValue(this.#request.session, this.#steps);
  }

  get token(): CelInput {
    return celValue(this.#request.token, this.#steps);
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
    return this.#names()
      .map((name) => celValue(this.#object[name], this.#steps))
      .values();
  }

  entries(): MapIterator<[string, CelInput]> {
    return this.#names()
      .map((name): [string, CelInput] => [name, celValue(this.#object[name], this.#steps)])
      .values();
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(visit: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  #names(): string[] {
    const names = Object.keys(this.#object);
    this.#steps.take(names.length / 8);
    return names;
  }
}

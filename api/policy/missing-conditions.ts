import { isList, isObject, dottedPath, memberPath } from '../../crds/path.ts';
import type { Lack } from '../schemas/explanation.ts';
import type { CompileCost, RuleFields } from './engines/engine.ts';
import { schemaError } from './engines/json-schema.ts';
import { matcho } from './engines/matcho.ts';
import { isSimpleEngine, simpleEngines } from './engines/index.ts';
import type { RequestObject } from './request-object.ts';
import type { Steps } from './steps.ts';

/**
 * Returns what a request lacks for a rule that is false for it: the first part that differs, and what the rule wants
 * there. It shows nothing that the request has. Undefined if a rule does not say, as CEL, or fails. Never throws.
 */
export function lackOf(rule: RuleFields, request: RequestObject, bounds: LackBounds): Lack | undefined {
  try {
    return lackIn(rule, request, bounds);
  } catch {
    return undefined;
  }
}

/** Work that finding lacks may take, of one rule or of several. */
export interface LackBounds {
  readonly steps: Steps;
  readonly cost: CompileCost;
}

function lackIn(rule: RuleFields, request: RequestObject, bounds: LackBounds): Lack | undefined {
  switch (rule.engine) {
    case 'matcho':
      return isObject(rule.matcho) ? patternLack(rule.matcho, request, bounds) : undefined;
    case 'json-schema':
      return isObject(rule.schema) ? schemaLack(rule.schema, request, bounds) : undefined;
    case 'complex':
      return combinedLack(rule, request, bounds);
    default:
      return undefined;
  }
}

type Pattern = Readonly<Record<string, unknown>>;

/** Finds the first part of a pattern that does not fit, by asking the engine about each part alone. */
function patternLack(pattern: Pattern, request: RequestObject, { steps, cost }: LackBounds): Lack | undefined {
  for (const { names, wants } of partsOf(pattern)) {
    const alone = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), wants);
    const fits = matcho.compile({ engine: 'matcho', matcho: alone }, cost);
    if (!fits(request, steps)) return { path: pathOf(names), wants };
  }
  return undefined;
}

function pathOf(names: readonly string[]): string {
  return names.reduce((path, name) => memberPath(path, name, false), '');
}

/** A part of a pattern that is compared as a whole. */
interface Part {
  readonly names: readonly string[];
  readonly wants: unknown;
}

function* partsOf(pattern: Pattern, names: readonly string[] = []): Generator<Part> {
  const keys = Object.keys(pattern);
  if (keys.length === 0 || keys.some((key) => key.startsWith('$'))) {
    yield { names, wants: pattern };
    return;
  }
  for (const [key, wants] of Object.entries(pattern)) {
    if (isObject(wants)) yield* partsOf(wants, [...names, key]);
    else yield { names: [...names, key], wants };
  }
}

function schemaLack(schema: Pattern, request: RequestObject, { steps, cost }: LackBounds): Lack | undefined {
  const error = schemaError(schema, cost, request, steps);
  if (error === undefined) return undefined;
  const { keyword, schemaPath, instancePath, params } = error;
  const path = dottedPath(instancePath, request);
  const named = WANTED.map((name): unknown => params[name]).find((value) => value !== undefined);
  // The path of an error behind a `$ref` begins at the schema that it points to, so that it does not tell the place.
  const wanted = named ?? (JSON.stringify(schema).includes('"$ref"') ? undefined : at(schema, schemaPath));
  return { path, ...(wanted !== undefined && { wants: { [keyword]: wanted } }) };
}

/** Parameters of errors that hold what the schema wants, and nothing of the request. */
const WANTED = ['allowedValue', 'allowedValues', 'type', 'pattern', 'format', 'limit', 'missingProperty'];

/** Returns the part of a schema at a pointer in a fragment (RFC 6901 §6). */
function at(schema: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1).map(unescaped);
  return names.reduce<unknown>((value, name) => {
    if (isList(value)) return value[Number(name)];
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, schema);
}

function unescaped(name: string): string {
  return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Finds the lack of the first rule that is false: with `or` all of them are, and the first stands for the rest. */
function combinedLack({ and, or }: RuleFields, request: RequestObject, bounds: LackBounds): Lack | undefined {
  const rules = [and ?? or].flatMap((list) => (isList(list) ? list : [])).filter(isObject);
  for (const fields of rules) {
    const { engine } = fields;
    if (!isSimpleEngine(engine)) return undefined;
    const rule = { ...fields, engine };
    if (!simpleEngines[engine].compile(rule, bounds.cost)(request, bounds.steps)) return lackIn(rule, request, bounds);
  }
  return undefined;
}

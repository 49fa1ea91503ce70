import type { AccessPolicy } from '../../crds/access-policy.ts';
import { isList, isObject, dottedPath, memberPath } from '../../crds/path.ts';
import { createTurns } from '../../program/scheduling.ts';
import type { ExplainedCandidate, Explanation, GrantingOther, Lack } from '../schemas/explanation.ts';
import { CompileCost } from './engines/engine.ts';
import type { RuleFields } from './engines/engine.ts';
import { isSimpleEngine, simpleEngines } from './engines/index.ts';
import { schemaError } from './engines/json-schema.ts';
import { compileMatcho } from './engines/matcho.ts';
import { CompiledPolicy } from './compile.ts';
import { isForApp } from './policy-index.ts';
import type { Subject } from './policy-index.ts';
import type { RequestObject } from './request-object.ts';
import { Steps } from './steps.ts';

/** A denied request, and all policies of its box. */
export interface DeniedRequest {
  readonly policies: Iterable<AccessPolicy>;
  /** An app behind a gateway; undefined for the own endpoints of the box. */
  readonly app: string | undefined;
  readonly subject: Subject;
  readonly request: RequestObject;
}

/**
 * Adds to the explanation of a denial what each candidate wants that the request lacks, and which policies for others
 * would grant it. It shows parts of policies: only for those who may read them. Others are served meanwhile. The wants
 * of all candidates take at most the steps of a decision and the cost of compiling one policy; of the other policies up
 * to 100 are compiled.
 */
export async function withReasons(explanation: Explanation, denied: DeniedRequest): Promise<Explanation> {
  if (explanation.granted) return explanation;
  const byId = new Map(Array.from(denied.policies, (policy) => [policy.id, policy]));
  const bounds = { steps: new Steps(), cost: new CompileCost() };
  const candidates: ExplainedCandidate[] = [];
  const turn = createTurns();
  for (const candidate of explanation.candidates) {
    const policy = byId.get(candidate.policy);
    byId.delete(candidate.policy);
    const isFalse = policy !== undefined && candidate.fault === undefined && !bounds.steps.isUsedUp;
    const lacks = isFalse ? lackOf(policy, denied.request, bounds) : undefined;
    candidates.push({ ...candidate, ...(lacks && { lacks }) });
    await turn();
  }
  const others = await grantingOthers([...byId.values()], denied);
  return { ...explanation, candidates, ...(others.length > 0 && { would_grant: others }) };
}

/** Other policies that are tried, and shown. */
const MOST_TRIED = 100;
const MOST_SHOWN = 3;

/** Finds policies that are linked to others and would grant the request if its subject were linked to them. */
async function grantingOthers(
  policies: readonly AccessPolicy[],
  { app, subject, request }: DeniedRequest,
): Promise<readonly GrantingOther[]> {
  const { client, user, withoutUserRights = false } = subject;
  // A link would not help one without an identity, or a token that lacks the rights of its user.
  if ((client === undefined && user === undefined) || withoutUserRights) return [];
  const linked = policies.filter((policy) => isLinked(policy) && isForApp(policy, app));
  const tried = linked
    .toSorted(user === undefined ? byId : groupsFirst)
    .slice(0, MOST_TRIED)
    .map((policy) => new CompiledPolicy(policy));
  const steps = new Steps();
  const granting: CompiledPolicy[] = [];
  const turn = createTurns();
  for (const policy of tried) {
    if (granting.length === MOST_SHOWN || steps.isUsedUp) break;
    if (policy.allows(request, steps)) granting.push(policy);
    await turn();
  }
  return granting.map(({ id, policy }) => ({ policy: id, link: (policy.link ?? []).slice(0, MOST_SHOWN) }));
}

function isLinked({ subjects = 'linked', link = [] }: AccessPolicy): boolean {
  return subjects === 'linked' && link.length > 0;
}

function byId(one: AccessPolicy, other: AccessPolicy): number {
  return one.id < other.id ? -1 : 1;
}

/** Orders policies for a user: those for a group first, because users are put into groups. */
function groupsFirst(one: AccessPolicy, other: AccessPolicy): number {
  return Number(isForGroup(other)) - Number(isForGroup(one)) || byId(one, other);
}

function isForGroup({ link = [] }: AccessPolicy): boolean {
  return link.some(({ resourceType }) => resourceType === 'Group');
}

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
interface LackBounds {
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
    const fits = compileMatcho({ engine: 'matcho', matcho: alone }, cost);
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
    if (!simpleEngines[engine](rule, bounds.cost)(request, bounds.steps)) return lackIn(rule, request, bounds);
  }
  return undefined;
}

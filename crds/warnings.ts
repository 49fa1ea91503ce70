import type { AccessPolicy, NestedRule } from './access-policy.ts';
import type { Client } from './client.ts';
import type { Link } from './links.ts';

/*
 * Warnings about a resource that is stored, and has no effect or more than is probably meant. A status has them as
 * conditions, an answer over REST as a list. `at` precedes the names of fields: `spec.` in a manifest.
 */

/** Properties of a policy that its warnings depend on. */
export interface PolicyTraits {
  readonly engine: string;
  readonly subjects: 'linked' | 'authenticated' | 'anyone';
  readonly links: readonly Link[];
  /** True if its rule has no condition. */
  readonly grantsEverything: boolean;
  readonly isForApps: boolean;
}

/** Returns the properties of a policy that its warnings depend on. */
export function policyTraits(policy: AccessPolicy): PolicyTraits {
  const { engine, subjects = 'linked', link = none, apps } = policy;
  // A copy has no spare capacity.
  const links = link.slice();
  return { engine, subjects, links, grantsEverything: isUnconditional(policy), isForApps: apps !== undefined };
}

/** Shared: nearly every status of a policy needs it. */
const none: readonly never[] = [];

/** Returns the warnings about a policy that is not declared; `dangling` are its links to nothing. */
export function policyWarnings(policy: AccessPolicy, dangling: readonly Link[]): readonly string[] {
  const traits = policyTraits(policy);
  const names = dangling.map(({ resourceType, id }) => `${resourceType}/${id}`);
  const all = [nobodyLinked(traits, ''), linksToNothing(names), opensToAll(traits), hasNoCondition(traits)];
  return all.filter((one) => one !== undefined);
}

/** Returns the warnings about a client that is not declared. */
export function clientWarnings(client: Client): readonly string[] {
  const { length } = client.grant_types;
  const noGrant = length > 0 ? undefined : 'grant_types is empty: the client gets no token, it can only check tokens';
  return [noGrant, idleRefresh(listsIdleRefresh(client), '')].filter((one) => one !== undefined);
}

/** Returns the warning about a policy for linked subjects that links none. */
export function nobodyLinked({ subjects, links }: PolicyTraits, at: string): string | undefined {
  return subjects === 'linked' && links.length === 0 ? `${at}link is empty: the policy grants nobody` : undefined;
}

/** Returns the warning about links to what does not exist. */
export function linksToNothing(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `not there: ${someOf(names)}`;
}

/** Returns the warning about a rule without a condition for everybody. An app behind a gateway always needs a token. */
export function opensToAll({ subjects, grantsEverything, isForApps }: PolicyTraits): string | undefined {
  const opens = subjects === 'anyone' && grantsEverything && !isForApps;
  return opens ? 'every request is granted, also without a token' : undefined;
}

/** Returns the warning about an empty rule: only the engine `allow` says that it grants everything. */
export function hasNoCondition({ engine, grantsEverything }: PolicyTraits): string | undefined {
  if (engine === 'allow' || !grantsEverything) return undefined;
  return 'the rule has no condition: it grants every request of the subjects';
}

/** Checks whether the entry `refresh_token` has no effect: refreshing needs `refresh_token: true` of a listed grant. */
export function listsIdleRefresh({ grant_types, auth }: Client): boolean {
  if (!grant_types.includes('refresh_token')) return false;
  const issuing = ['client_credentials', 'authorization_code'] as const;
  return !issuing.some((grant) => grant_types.includes(grant) && auth?.[grant]?.refresh_token === true);
}

/** Returns the warning about an entry `refresh_token` that has no effect, if it has none. */
export function idleRefresh(isIdle: boolean, at: string): string | undefined {
  return isIdle ? `refresh_token in ${at}grant_types has no effect: no listed grant issues refresh tokens` : undefined;
}

/** Limit of the names that a message lists. */
const mostNamed = 5;

/** Returns a list of names for a message: the first few, and how many there are besides. */
export function someOf(names: readonly string[]): string {
  const first = names.slice(0, mostNamed).join(', ');
  return names.length > mostNamed ? `${first} and ${String(names.length - mostNamed)} more` : first;
}

/** Keywords of JSON Schema that only describe and never refuse. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
]);

/** The fields of a policy that decide. */
type DecidingFields = Pick<AccessPolicy, 'engine' | 'schema' | 'matcho' | 'expression' | 'and' | 'or'>;

/** Checks whether the rule of a policy grants every request, whatever the engine: it has no condition. */
export function isUnconditional({ and, or, ...rule }: DecidingFields): boolean {
  if (rule.engine !== 'complex') return isRuleUnconditional({ ...rule, engine: rule.engine });
  return and === undefined ? or?.some(isRuleUnconditional) === true : and.every(isRuleUnconditional);
}

function isRuleUnconditional({ engine, schema, matcho, expression }: NestedRule): boolean {
  switch (engine) {
    case 'allow':
      return true;
    case 'matcho':
      return matcho !== undefined && Object.keys(matcho).length === 0;
    case 'json-schema':
      return schema !== undefined && Object.entries(schema).every(([name, value]) => saysNothing(name, value));
    case 'cel':
      return expression?.trim() === 'true';
  }
}

/** Checks whether a keyword has no effect; the request object is always an object. */
function saysNothing(name: string, value: unknown): boolean {
  return ANNOTATIONS.has(name) || (name === 'type' && value === 'object');
}

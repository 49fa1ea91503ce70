import { MOST_LINKS } from '../crds/status.ts';
import { conditionsOf, faultsOf, type Verdict } from './conditions.ts';
import type { Facts } from './facts.ts';
import type { Judged, Traits } from './judge.ts';
import { linkNames } from './links.ts';
import type { Columns, Condition, ObjectStatus } from './object-status.ts';
import { secretName } from './secret-source.ts';

/** Conditions made so far: ten thousand clients that are Ready share them all. */
export class ConditionPool {
  readonly #conditions = new Map<string, { readonly condition: Condition; readonly nth: number }>();
  readonly #lists = new Map<string, readonly Condition[]>();

  /** These conditions, or equal ones made before. */
  list(conditions: readonly Condition[]): readonly Condition[] {
    const known = conditions.map((condition) => this.#one(condition));
    const key = known.map(({ nth }) => nth).join();
    const list = this.#lists.get(key) ?? known.map(({ condition }) => condition);
    this.#lists.set(key, list);
    return list;
  }

  #one(condition: Condition) {
    const key = Object.values(condition).join('\n');
    const known = this.#conditions.get(key) ?? { condition, nth: this.#conditions.size };
    this.#conditions.set(key, known);
    return known;
  }
}

/** The conditions of an object; `now` (RFC 3339) stamps only those that flipped since `previous`. */
export function stampedConditions(
  facts: Facts,
  previous: readonly Condition[],
  now: string,
  pool: ConditionPool,
): readonly Condition[] {
  const { generation } = facts.desired.object;
  return pool.list(conditionsOf(facts).map((verdict) => stamped(verdict, generation, previous, now)));
}

function stamped(verdict: Verdict, generation: number, previous: readonly Condition[], now: string): Condition {
  const before = previous.find(({ type }) => type === verdict.type);
  const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : now;
  return { ...verdict, observedGeneration: generation, lastTransitionTime };
}

/** The status of an object as it is published. Pure. */
export function statusOf(facts: Facts, conditions: readonly Condition[]): ObjectStatus {
  const { kind, namespace, name, uid, place, generation } = facts.desired.object;
  const faults = faultsOf(facts);
  return {
    kind,
    namespace,
    name,
    uid,
    place,
    observedGeneration: generation,
    conditions,
    columns: columnsOf(facts),
    faults,
  };
}

function columnsOf(facts: Facts): Columns {
  const { desired, policies, clients, dangling, issuer, usage, users } = facts;
  const { object, judged } = desired;
  const { traits, id, secret } = judged;
  switch (object.kind) {
    case 'Client': {
      const grants = traits.kind === 'Client' ? traits.grants.join(',') : '';
      const from = secret.from === 'nowhere' ? '' : secret.from;
      const named = secretName(secret, object.name) ?? '';
      return { kind: 'Client', id, grants, secret: from, secretName: named, policies, usage };
    }
    case 'AccessPolicy':
      return { kind: 'AccessPolicy', id, ...subjectsOf(traits), ...listedLinks(judged, dangling) };
    case 'Box':
      return { kind: 'Box', issuer, clients, policies, users, admin: adminOf(judged) };
  }
}

function adminOf({ traits, secret }: Judged): Extract<Columns, { kind: 'Box' }>['admin'] {
  if (traits.kind !== 'Box' || traits.admin === undefined || secret.from !== 'reference') return undefined;
  return { email: traits.admin, secret: secret.name };
}

function subjectsOf(traits: Traits): { readonly engine: string; readonly subjects: string } {
  if (traits.kind !== 'AccessPolicy') return { engine: '', subjects: '' };
  const { engine, subjects, links } = traits;
  return { engine, subjects: subjects === 'linked' ? String(links.length) : subjects };
}

/** Both lists of ten thousand long links would not fit into one object. */
function listedLinks(judged: Judged, dangling: readonly string[]) {
  const isDangling = new Set(dangling);
  const resolved = linkNames(judged).filter((name) => !isDangling.has(name));
  return { resolvedLinks: resolved.slice(0, MOST_LINKS), danglingLinks: dangling.slice(0, MOST_LINKS) };
}

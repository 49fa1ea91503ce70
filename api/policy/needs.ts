import { isList, isObject } from '../../crds/path.ts';
import type { RuleFields } from './engines/engine.ts';

/** Parts of a request that a policy looks at: only the head, also the body, or also `changes` to the stored record. */
export type Needs = 'head' | 'body' | 'changes';

const RANKS = { head: 0, body: 1, changes: 2 } as const satisfies Record<Needs, number>;

/**
 * Returns the parts that a policy looks at, as far as its text tells: a rule of matcho or CEL looks at the parts it
 * mentions, a JSON Schema at everything. Trusts no stored type and compiles nothing.
 */
export function needsOf({ engine, matcho, expression, and, or }: RuleFields): Needs {
  switch (engine) {
    case 'json-schema':
      return 'changes';
    case 'matcho':
      return neededByPattern(matcho);
    case 'cel':
      return typeof expression === 'string' ? neededByExpression(expression) : 'head';
    case 'complex':
      return mostOf([and, or].flatMap((rules) => (isList(rules) ? rules.map(neededByRule) : [])));
    default:
      // `allow` looks at nothing, and an unknown engine grants nothing.
      return 'head';
  }
}

/** Returns the most that any of several looks at; `head` for none. */
export function mostOf(needs: readonly Needs[]): Needs {
  return needs.reduce((most, one) => (isMore(one, most) ? one : most), 'head');
}

/** Checks whether one looks at more than another. */
export function isMore(one: Needs, other: Needs): boolean {
  return RANKS[one] > RANKS[other];
}

function neededByRule(rule: unknown): Needs {
  return isObject(rule) && rule['engine'] !== 'complex' ? needsOf({ ...rule, engine: rule['engine'] }) : 'head';
}

/** Returns the needs of a pattern. Keys at any depth matter: a word such as `$not` may apply to the whole request. */
function neededByPattern(pattern: unknown): Needs {
  if (typeof pattern === 'string') return neededByName(/^\.([^.]+)/.exec(pattern)?.[1]);
  if (isList(pattern)) return mostOf(pattern.map(neededByPattern));
  if (!isObject(pattern)) return 'head';
  return mostOf(Object.entries(pattern).flatMap(([key, member]) => [neededByName(key), neededByPattern(member)]));
}

/** Returns the needs of an expression. Words in texts and comments are included: it is not parsed yet. */
function neededByExpression(expression: string): Needs {
  return mostOf((expression.match(/\b(?:body|changes)\b/g) ?? []).map(neededByName));
}

function neededByName(name: string | undefined): Needs {
  return name === 'body' || name === 'changes' ? name : 'head';
}

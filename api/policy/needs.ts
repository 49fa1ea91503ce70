import type { RuleFields } from './engines/engine.ts';
import { DEEPEST_PATTERN } from './engines/matcho.ts';
import { isList, isObject } from './json-value.ts';

/** Parts of a request that a policy looks at: the head alone, the body too, or also `changes`, which needs the stored record. */
export type Needs = 'head' | 'body' | 'changes';

/**
 * Returns what a policy looks at, as far as its text tells: a rule of matcho or CEL looks at what it mentions, a JSON Schema
 * at everything. Trusts no stored type and compiles nothing.
 */
export function needsOf({ engine, matcho, expression, and, or }: RuleFields): Needs {
  switch (engine) {
    case 'json-schema':
      return 'changes';
    case 'matcho':
      return neededByPattern(matcho, 0);
    case 'cel':
      return typeof expression === 'string' ? neededByExpression(expression) : 'head';
    case 'complex':
      return mostOf([and, or].flatMap((rules) => (isList(rules) ? rules.map(neededByRule) : [])));
    default:
      // `allow` looks at nothing, and an unknown engine grants nothing.
      return 'head';
  }
}

/** Returns the most of what several look at; `head` for none. */
export function mostOf(needs: readonly Needs[]): Needs {
  if (needs.includes('changes')) return 'changes';
  return needs.includes('body') ? 'body' : 'head';
}

/** Checks whether one looks at more than another. */
export function isMore(one: Needs, other: Needs): boolean {
  return one !== other && mostOf([one, other]) === one;
}

function neededByRule(rule: unknown): Needs {
  return isObject(rule) && rule['engine'] !== 'complex' ? needsOf({ ...rule, engine: rule['engine'] }) : 'head';
}

/** Keys at any depth count: a word such as `$not` may lay its pattern over the whole request. */
function neededByPattern(pattern: unknown, depth: number): Needs {
  if (depth > DEEPEST_PATTERN) return 'changes';
  if (typeof pattern === 'string') return neededByName(/^\.([^.]+)/.exec(pattern)?.[1]);
  if (isList(pattern)) return mostOf(pattern.map((element) => neededByPattern(element, depth + 1)));
  if (!isObject(pattern)) return 'head';
  return mostOf(
    Object.entries(pattern).flatMap(([key, member]) => [neededByName(key), neededByPattern(member, depth + 1)]),
  );
}

/** A word in a text or comment counts as well: the text is not parsed before the policy is asked. */
function neededByExpression(expression: string): Needs {
  return mostOf((expression.match(/\b(?:body|changes)\b/g) ?? []).map(neededByName));
}

function neededByName(name: string | undefined): Needs {
  return name === 'body' || name === 'changes' ? name : 'head';
}

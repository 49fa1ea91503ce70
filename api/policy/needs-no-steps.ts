import { isList, isObject } from '../../crds/json-value.ts';
import type { RuleFields } from './engines/engine.ts';

/**
 * Checks whether a policy grants every request without steps, provided that it is valid: `allow`, and `complex` that
 * comes to it. Any other takes steps before it grants. Trusts no stored type and compiles nothing.
 */
export function needsNoSteps({ engine, and, or }: RuleFields): boolean {
  if (engine !== 'complex') return engine === 'allow';
  if (isList(and)) return and.every(isAllow);
  return isList(or) && or.some(isAllow);
}

function isAllow(rule: unknown): boolean {
  return isObject(rule) && rule['engine'] === 'allow';
}

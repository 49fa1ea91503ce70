import type { RULE_ENGINES } from '../../../crds/access-policy.ts';
import { allow } from './allow.ts';
import { cel } from './cel.ts';
import type { RuleEngine } from './engine.ts';
import { jsonSchema } from './json-schema.ts';
import { matcho } from './matcho.ts';

/** An engine that decides by itself. */
export type SimpleEngine = (typeof RULE_ENGINES)[number];

/** Every engine that decides by itself; `complex` combines these. */
export const simpleEngines = {
  allow,
  'json-schema': jsonSchema,
  matcho,
  cel,
} satisfies Record<SimpleEngine, RuleEngine>;

/** Checks whether a stored word names one of them, exactly as written. */
export function isSimpleEngine(name: unknown): name is SimpleEngine {
  return typeof name === 'string' && Object.hasOwn(simpleEngines, name);
}

import type { Engine } from '../../../crds/access-policy.ts';
import { complex } from './complex.ts';
import type { RuleEngine } from './engine.ts';
import { simpleEngines } from './simple-engines.ts';

/** Every engine by its name. */
export const engines = { ...simpleEngines, complex } satisfies Record<Engine, RuleEngine>;

/** Checks whether a stored word names an engine, exactly as written: `ALLOW` and `allow ` do not. */
export function isEngine(name: unknown): name is Engine {
  return typeof name === 'string' && Object.hasOwn(engines, name);
}

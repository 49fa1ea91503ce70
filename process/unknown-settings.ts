import { ConfigError } from './environment.ts';
import type { Environment } from './environment.ts';
import type { WordHint } from './program.ts';
import { SETTING_NAMES } from './setting-names.ts';

/** Variables that Kubernetes sets for the Services of a namespace, such as `BOXGATE_API_PORT_80_TCP_ADDR`. */
const ofService = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const addressOfService = /^(?:tcp|udp|sctp):\/\//;

const settings: ReadonlySet<string> = new Set(SETTING_NAMES);

/**
 * Returns a sentence for each variable `BOXGATE_…` that no program reads, without its value. `hint` returns the end of
 * the sentence: the known name that is probably meant.
 */
export function unknownSettings(environment: Environment, hint: WordHint): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value]) => /^BOXGATE_\w+$/.test(name) && !settings.has(name) && !isOfService(name, value))
    .map(([name]) => `${name} is ignored, because no setting has this name${hint(name, SETTING_NAMES)}`)
    .sort();
}

function isOfService(name: string, value = ''): boolean {
  return ofService.test(name) || (name.endsWith('_PORT') && addressOfService.test(value));
}

/** Reads settings. If some are missing or wrong, also names the unknown ones: throws ConfigError with both. */
export function readWithUnknown<T>(unknown: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError([...error.mistakes, ...unknown]);
    throw error;
  }
}

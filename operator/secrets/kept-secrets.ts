import type { KeptName, SecretKeeper } from './keeper.ts';

/** State of a box's generated secrets that is kept between two passes. */
export interface SecretCache {
  /** By name of the Secret: a generated secret, and its Client. */
  readonly generated: Map<string, KeptName & { readonly client: string }>;
  /** Names of generated secrets that no Client wanted at the last sweep. */
  leftovers: ReadonlySet<string>;
}

/** The generated secrets of one box, in one pass. */
export interface KeptSecrets {
  readonly box: string;
  readonly keeper: SecretKeeper;
  readonly cache: SecretCache;
  readonly signal: AbortSignal;
}

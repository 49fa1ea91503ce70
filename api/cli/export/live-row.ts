import type { JsonObject } from '../../../crds/path.ts';
import type { Kind } from '../../../crds/kind.ts';

/** A row of a box as `$export` shows it. */
export interface LiveRow {
  readonly kind: Kind;
  /** ID of the row; of a group its name. */
  readonly id: string;
  /** `namespace/name` of the object that declares it; undefined if none does. */
  readonly object: string | undefined;
  readonly retain: boolean;
  readonly purge: boolean;
  readonly hasSecret: boolean;
  /** Email of the first admin of a Box, if that user exists. */
  readonly firstAdmin: string | undefined;
  /** The resource; links to groups name them where an object can declare them. */
  readonly resource: JsonObject;
}

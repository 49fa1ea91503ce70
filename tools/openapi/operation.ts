import type { JsonObject } from '../../crds/path.ts';

/** Ways to authenticate at an operation. */
export type Access = 'token' | 'user-token' | 'client' | 'none' | 'browser';

/** One operation: everything about a route that neither the route table nor a schema says. */
export interface Operation {
  /** Name in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly parameters?: readonly JsonObject[];
  /** Content of the request's body, by content type. */
  readonly body?: Readonly<Record<string, JsonObject>>;
  /** By status. */
  readonly responses: Readonly<Record<string, JsonObject>>;
}

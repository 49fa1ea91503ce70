import type { RequestParts } from '../../policy/request-object.ts';
import type { AskedToken } from '../resources/explained-request.ts';

/** The user in whose name a request is made: one by id, any of a group, or any without a group. */
export type PlannedUser = { readonly id: number } | { readonly group: string } | 'any';

/** A request that is ready to be decided. */
export interface ReadyRequest {
  /** App behind a gateway; undefined: the own endpoints of the box. */
  readonly app: string | undefined;
  readonly client: string | undefined;
  /** Undefined: the token is the client's own, or there is none. */
  readonly user: PlannedUser | undefined;
  readonly token: AskedToken;
  readonly parts: Omit<RequestParts, 'box' | 'time'>;
  /** Seconds since 1970. */
  readonly time: number;
}

import type { Caller } from '../../records/record.ts';
import type { ConfirmChanges } from '../../records/write/conditions.ts';
import type { StoredKind, ResourceServices } from '../../records/services.ts';
import type { BoxState } from '../../box/box-state.ts';

/** The resource types of the generic resource API. */
export type ResourceKind = StoredKind | 'Session' | 'Group' | 'Grant' | 'AuditEvent';

/** A type that a request may address: a resource, a user, or the whole box. */
export type AddressedType = ResourceKind | 'User' | 'Box';

/** A request to the generic resource API: authenticated, authorized, its body parsed. */
export interface ResourceExchange extends Caller {
  readonly box: string;
  /** The issuer of the box: links and `Location` start with it, never with the Host header. */
  readonly baseUrl: string;
  /** The id in the path; undefined on the path of the whole kind. */
  readonly id: string | undefined;
  readonly method: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Checks whether the caller may also list the policies of the box, under the state that is given. */
  readonly mayReadPolicies: (state: BoxState) => Promise<boolean>;
  readonly long: LongWork;
  /** Undefined if no policy has read the changes of the request. */
  readonly confirmChanges: ConfirmChanges | undefined;
  /** Body of a PUT, POST or PATCH, from parseBody. */
  readonly body: unknown;
}

/** Runs work that holds the event loop for more than some milliseconds in the turn of the caller. */
export type LongWork = <T>(work: () => Promise<T>) => Promise<T>;

/** An answer before it is written in the caller's format; without `body` and `page` it has none. */
export interface ResourceAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A page of a list, in place of a body. */
  readonly page?: ListPage;
}

/** A page of a list whose records are not shown before they are written: each costs time of the event loop. */
export interface ListPage {
  /** The Bundle without its entries; undefined for a plain list. */
  readonly bundle: object | undefined;
  /** Shows the records, each when it is taken. */
  readonly items: Iterator<unknown>;
}

/** Answers a request. Throws Problem and Outage. */
export type ResourceHandler = (exchange: ResourceExchange, services: ResourceServices) => Promise<ResourceAnswer>;

import type { Box } from '../../crds/box.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { Owner } from '../db/resource/resource.ts';
import type { StoredUser } from '../db/user.ts';
import type { Sharer } from '../shares/fair-queue.ts';
import { jsonPatch, mergePatch } from './patch.ts';
import type { View, Searchable } from './search/search.ts';
import type { ResourceServices } from './services.ts';
import type { WriteConditions, Preconditions } from './write/conditions.ts';

/** A change of a document, in one of its two forms. */
export type Patch =
  | { readonly form: 'merge-patch'; readonly value: unknown }
  | { readonly form: 'json-patch'; readonly value: readonly unknown[] };

/** A change of a record, as it was requested: a whole document, or a patch. */
export type RequestedChange = { readonly form: 'document'; readonly value: unknown } | Patch;

/** A record after a PUT. */
export interface Written<Row> {
  readonly row: Row;
  readonly created: boolean;
}

/** Settings of a box that records without a row follow. */
interface BoxSettings {
  readonly settings: Box;
  /** The issuer of the box. */
  readonly baseUrl: string;
}

/**
 * Verifies the present password of a user with `verify`, within the limits on failures. Throws Problem `throttled`,
 * Outage, and the errors of `verify`.
 */
export type GuessPassword = (user: StoredUser, verify: (sharer: Sharer) => Promise<boolean>) => Promise<boolean>;

/** The caller of a write, and the settings of the box. */
export interface Caller {
  readonly settings: Box;
  /** ID of the user whose token the request has; undefined for the token of a client, or none. */
  readonly user: number | undefined;
  readonly guessPassword: GuessPassword;
}

/** A change of one record, and its conditions. */
export interface ChangeOfRecord<Id> extends WriteConditions {
  readonly id: Id;
  readonly caller: Caller;
  readonly requested: RequestedChange;
}

/** A kind of record. A function that is absent has no route. */
export interface RecordDefinition<Kind extends string, Row, Filters, Id> {
  readonly kind: Kind;
  /** The path of its routes; absent: the name of the kind. */
  readonly path?: `/${string}`;
  /** Answer to a request for a record that does not exist, unless it is the usual one. */
  readonly absent?: string;
  readonly search: Searchable<Row, Filters>;
  /** Shows a record, alone or in a list. */
  readonly view: (row: Row, settings: Box, isListed: boolean) => View;
  /** Returns the version of a record: its ETag. */
  readonly version: (row: Row) => number | string;
  /** Returns the declarer of a record; absent: no record of this kind is declared. */
  readonly owner?: (row: Row) => Owner | undefined;
  /** Reads the id in a path; undefined when no record can have it. Throws Problem for one with another answer. */
  readonly idOf: (text: string) => Id | undefined;
  /** Reads a record; `now` in milliseconds since 1970. */
  readonly read: (connection: Connection, box: string, id: Id, now: number) => Promise<Row | undefined>;
  /** Makes a record that has no row; absent: each has one. */
  readonly builtIn?: (id: Id, box: BoxSettings) => Row | undefined;
  readonly create?: (services: ResourceServices, box: string, document: unknown, caller: Caller) => Promise<Row>;
  /** Replaces a record, or creates it under an id of any form; absent: a PUT changes a record as a PATCH does. */
  readonly put?: (services: ResourceServices, box: string, change: ChangeOfRecord<string>) => Promise<Written<Row>>;
  /** Changes a record; undefined when there is none. */
  readonly change?: (services: ResourceServices, box: string, change: ChangeOfRecord<Id>) => Promise<Row | undefined>;
  /** Returns the fields that a request would change; `row` is undefined for a new record, `id` in a POST. */
  readonly changedFields?: (row: Row | undefined, requested: RequestedChange, id?: string) => readonly string[];
  /** Removes a record; undefined when there was none. */
  readonly remove?: (
    services: ResourceServices,
    box: string,
    id: Id,
    preconditions: Preconditions,
  ) => Promise<Row | undefined>;
}

/** A kind of record, with the path of its routes, and the answer to a request for one that does not exist. */
export interface RecordKind<Kind extends string, Row, Filters, Id> extends RecordDefinition<Kind, Row, Filters, Id> {
  readonly path: `/${string}`;
  readonly absent: string;
}

/** Defines a kind of record of the generic resource API. */
export function defineRecord<Kind extends string, Row, Filters, Id>(
  definition: RecordDefinition<Kind, Row, Filters, Id>,
): RecordKind<Kind, Row, Filters, Id> {
  return { path: `/${definition.kind}`, absent: `There is no ${definition.kind} with this id`, ...definition };
}

/** Returns a record after a requested change. Throws Problem `conflict` when a patch does not fit it, and `invalid`. */
export function changedDocument(present: View, { form, value }: RequestedChange): unknown {
  switch (form) {
    case 'document':
      return value;
    case 'json-patch':
      return jsonPatch(present, value);
    case 'merge-patch':
      return mergePatch(present, value);
  }
}

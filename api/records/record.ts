import type { Connection } from '../db/core/transaction.ts';
import type { Owner } from '../db/resource/resource.ts';
import { jsonPatch } from '../resources/patch/json-patch.ts';
import { mergePatch } from '../resources/patch/merge-patch.ts';
import type { View } from '../resources/search/bundle.ts';
import type { Searchable } from '../resources/search/searchable.ts';
import type { ResourceServices } from '../resources/services.ts';
import type { WriteConditions } from '../resources/write/confirm-changes.ts';
import type { Preconditions } from '../resources/write/etag.ts';
import type { Patch } from '../resources/write/patch.ts';

/** A change of a record, as it was requested: a whole document, or a patch. */
export type RequestedChange = { readonly form: 'document'; readonly value: unknown } | Patch;

/** A change of one record, and its conditions. */
export interface ChangeOfRecord<Id> extends WriteConditions {
  readonly id: Id;
  readonly requested: RequestedChange;
}

/** A kind of record. A function that is absent has no route. */
export interface RecordDefinition<Kind extends string, Row, Filters, Id> {
  readonly kind: Kind;
  readonly search: Searchable<Row, Filters>;
  readonly view: (row: Row) => View;
  /** Returns the version of a record: its ETag. */
  readonly version: (row: Row) => number | string;
  /** Returns the declarer of a record; absent: no record of this kind is declared. */
  readonly owner?: (row: Row) => Owner | undefined;
  /** Reads the id in a path; undefined when no record can have it. */
  readonly idOf: (text: string) => Id | undefined;
  /** Reads a record; `now` in milliseconds since 1970. */
  readonly read: (connection: Connection, box: string, id: Id, now: number) => Promise<Row | undefined>;
  readonly create?: (services: ResourceServices, box: string, document: unknown) => Promise<Row>;
  /** Changes a record; undefined when there is none. */
  readonly change?: (services: ResourceServices, box: string, change: ChangeOfRecord<Id>) => Promise<Row | undefined>;
  /** Returns the fields that a request would change; `row` is undefined for a new record. */
  readonly changedFields?: (row: Row | undefined, requested: RequestedChange) => readonly string[];
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

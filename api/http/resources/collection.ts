import type { Box } from '../../../crds/box.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Owner } from '../../db/resource/resource.ts';
import { Problem } from '../../problem.ts';
import type { RecordKind } from '../../records/record.ts';
import { withElements, bundleHead, linksOf } from '../../records/search/bundle.ts';
import type { View, Link } from '../../records/search/bundle.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../records/search/parameters.ts';
import type { Searchable } from '../../records/search/searchable.ts';
import type { WriteConditions } from '../../records/write/confirm-changes.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../records/write/etag.ts';
import type { Preconditions } from '../../records/write/etag.ts';
import type { UserServices } from '../../users/services.ts';
import { documentIn, requestedChange } from '../formats/parse-body.ts';
import { idIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange, ResourceHandler, ResourceKind } from './resource-exchange.ts';
import type { SearchRequest } from '../../records/search/parameters.ts';
import type { SearchResult } from '../../records/search/search.ts';

/** Change of a record, as it was requested; returns undefined when there is no such record. */
type Change<Row> = (
  services: UserServices,
  exchange: ResourceExchange,
  conditions: WriteConditions,
) => Promise<Changed<Row> | undefined>;

/** A record after a change; a PUT may have created it. */
interface Changed<Row> {
  readonly row: Row;
  readonly created?: boolean;
}

/** One kind of record under one path. A function that is absent has no route. */
export interface Collection<Kind extends string, Row, Filters, Id> {
  readonly kind: Kind;
  readonly path: `/${string}`;
  /** Answer to a request for a record that does not exist. */
  readonly absent: string;
  readonly search: Searchable<Row, Filters>;
  /** Shows a record alone. */
  readonly view: (row: Row, settings: Box) => View;
  /** Shows a record in a list; absent: as alone. */
  readonly listed?: (row: Row) => View;
  /** The version of a record: its ETag. */
  readonly version: (row: Row) => number | string;
  /** The declarer of a record; absent: no record of this kind is declared. */
  readonly owner?: (row: Row) => Owner | undefined;
  /** Reads the id in a path; undefined when no record can have it. Throws Problem for one with another answer. */
  readonly idOf: (text: string) => Id | undefined;
  /** Reads a record; `now` in milliseconds since 1970. */
  readonly read: (connection: Connection, box: string, id: Id, now: number) => Promise<Row | undefined>;
  /** Makes a record that has no row; absent: each has one. */
  readonly builtIn?: (id: Id, exchange: ResourceExchange) => Row | undefined;
  readonly create?: (services: UserServices, exchange: ResourceExchange) => Promise<Row>;
  readonly put?: Change<Row>;
  readonly patch?: Change<Row>;
  /** Removes a record; undefined when there was none. */
  readonly remove?: (
    services: UserServices,
    box: string,
    id: Id,
    preconditions: Preconditions,
  ) => Promise<Row | undefined>;
}

/** Returns the collection of a kind of record. */
export function collectionOf<Kind extends string, Row, Filters, Id>(
  record: RecordKind<Kind, Row, Filters, Id>,
): Collection<Kind, Row, Filters, Id> {
  const { create, put, change, ...same } = record;
  const changeRow: Change<Row> | undefined =
    change &&
    (async (services, exchange, conditions) => {
      const requested = requestedChange(exchange);
      const id = record.idOf(idIn(exchange));
      const row = id === undefined ? undefined : await change(services, exchange.box, { id, requested, ...conditions });
      return row && { row };
    });
  return {
    ...same,
    ...(create && { create: (services, exchange) => create(services, exchange.box, documentIn(exchange)) }),
    ...(changeRow && { put: changeRow, patch: changeRow }),
    ...(put && {
      put: (services, exchange, conditions) => {
        const requested = requestedChange(exchange);
        return put(services, exchange.box, { id: idIn(exchange), requested, ...conditions });
      },
    }),
  };
}

/** One route of a collection; a path with `:id` addresses one record. */
export interface CollectionRoute<Kind extends string = ResourceKind | 'User'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly kind: Kind;
  readonly handler: ResourceHandler;
}

/** Returns the routes of a collection. */
export function routesOf<Kind extends string, Row, Filters extends object, Id>(
  collection: Collection<Kind, Row, Filters, Id>,
): readonly CollectionRoute<Kind>[] {
  const { kind, path, create, put, patch, remove } = collection;
  const one = { kind, path: `${path}/:id` } as const;
  return [
    { kind, path, method: 'GET', handler: searching(collection) },
    ...(create === undefined ? [] : [{ kind, path, method: 'POST', handler: creating(collection, create) } as const]),
    { ...one, method: 'GET', handler: reading(collection) },
    ...(put === undefined ? [] : [{ ...one, method: 'PUT', handler: changing(collection, put) } as const]),
    ...(patch === undefined ? [] : [{ ...one, method: 'PATCH', handler: changing(collection, patch) } as const]),
    ...(remove === undefined ? [] : [{ ...one, method: 'DELETE', handler: removing(collection, remove) } as const]),
  ];
}

type AnyCollection<Row, Filters, Id> = Collection<string, Row, Filters, Id>;

function searching<Row, Filters extends object, Id>(collection: AnyCollection<Row, Filters, Id>): ResourceHandler {
  const { path, search, view, listed = view } = collection;
  return async (exchange, services) => {
    const request = readSearch(exchange.query, search);
    const result = await search.find(services, exchange.box, request);
    const address = { address: `${exchange.baseUrl}${path}`, query: exchange.query };
    const show = (row: Row): View => withElements(listed(row, exchange.settings), request.elements);
    return searchAnswer(address, request, result, show);
  };
}

/** Names the custom resource (`<namespace>/<name>`) that declares the record: REST cannot change it. */
const MANAGED_BY = 'X-Managed-By';

function reading<Row, Filters extends object, Id>(collection: AnyCollection<Row, Filters, Id>): ResourceHandler {
  return async (exchange, services) => {
    const elements = readElementsOnly(exchange.query, collection.search);
    const preconditions = readPreconditions(exchange);
    const id = collection.idOf(idIn(exchange));
    const row = id === undefined ? undefined : await readRow(collection, services, exchange, id);
    if (row === undefined) throw nothingThere(collection);
    const version = collection.version(row);
    const owner = collection.owner?.(row);
    const headers = { ETag: entityTag(version), ...(owner && { [MANAGED_BY]: owner.name }) };
    if (isKnown(preconditions, version)) return { status: 304, headers };
    return { status: 200, headers, body: withElements(collection.view(row, exchange.settings), elements) };
  };
}

async function readRow<Row, Filters, Id>(
  { read, builtIn }: AnyCollection<Row, Filters, Id>,
  { pool, now }: UserServices,
  exchange: ResourceExchange,
  id: Id,
): Promise<Row | undefined> {
  const row = await inBox(pool, exchange.box, 'snapshot', (connection) => read(connection, exchange.box, id, now()));
  return row ?? builtIn?.(id, exchange);
}

function creating<Row, Filters, Id>(
  collection: AnyCollection<Row, Filters, Id>,
  create: (services: UserServices, exchange: ResourceExchange) => Promise<Row>,
): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    return changedAnswer(collection, exchange, { row: await create(services, exchange), created: true });
  };
}

function changing<Row, Filters extends object, Id>(
  collection: AnyCollection<Row, Filters, Id>,
  change: Change<Row>,
): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const { confirmChanges } = exchange;
    const changed = await change(services, exchange, { preconditions: readPreconditions(exchange), confirmChanges });
    if (changed === undefined) throw nothingThere(collection);
    return changedAnswer(collection, exchange, changed);
  };
}

function removing<Row, Filters extends object, Id>(
  collection: AnyCollection<Row, Filters, Id>,
  remove: NonNullable<AnyCollection<Row, Filters, Id>['remove']>,
): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const preconditions = readPreconditions(exchange);
    const id = collection.idOf(idIn(exchange));
    if (id === undefined) demandPreconditions(preconditions, undefined);
    const row = id === undefined ? undefined : await remove(services, exchange.box, id, preconditions);
    return row === undefined ? { status: 204 } : { status: 200, body: collection.view(row, exchange.settings) };
  };
}

function changedAnswer<Row, Filters, Id>(
  { path, view, version }: AnyCollection<Row, Filters, Id>,
  { baseUrl, settings }: ResourceExchange,
  { row, created = false }: Changed<Row>,
): ResourceAnswer {
  const headers = { ETag: entityTag(version(row)) };
  const body = view(row, settings);
  if (!created) return { status: 200, headers, body };
  return { status: 201, headers: { ...headers, Location: `${baseUrl}${path}/${String(body['id'])}` }, body };
}

function nothingThere({ absent }: Pick<AnyCollection<unknown, unknown, unknown>, 'absent'>): Problem {
  return new Problem('not-found', absent);
}

/** Address of a search, without its query, and the query. */
interface SearchAddress {
  readonly address: string;
  readonly query: URLSearchParams;
}

/**
 * Returns the answer to a search: a Bundle, or the resources alone, with the links (RFC 8288) and the total in headers.
 * `show` is called for each row when it is written.
 */
function searchAnswer<Row>(
  { address, query }: SearchAddress,
  request: SearchRequest<unknown>,
  result: SearchResult<Row>,
  show: (row: Row) => View,
): ResourceAnswer {
  const links = linksOf(address, query, result);
  const { rows, total } = result;
  if (request.result === 'bundle') {
    const items = shown(rows, (row) => ({ resource: show(row) }));
    return { status: 200, page: { bundle: bundleHead(links, total), items } };
  }
  return { status: 200, headers: listHeaders(links, total), page: { bundle: undefined, items: shown(rows, show) } };
}

function* shown<Row>(rows: readonly Row[], show: (row: Row) => object): Generator<object> {
  for (const row of rows) yield show(row);
}

function listHeaders(links: readonly Link[], total: number | undefined): Readonly<Record<string, string>> {
  const link = links.map(({ relation, url }) => `<${url}>; rel="${relation}"`).join(', ');
  return { Link: link, ...(total === undefined ? {} : { 'X-Total-Count': String(total) }) };
}

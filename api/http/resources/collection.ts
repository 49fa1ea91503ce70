import { isList } from '../../../crds/path.ts';
import { inBox } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import type { ChangeOfRecord, RecordKind, Written } from '../../records/record.ts';
import { withElements, bundleHead, linksOf } from '../../records/search/search.ts';
import type { View, SearchResult } from '../../records/search/search.ts';
import type { Link } from '../../schemas/stored.ts';
import { readElementsOnly, readSearch, refuseParameters } from '../../records/search/parameters.ts';
import { demandPreconditions, entityTag, isKnown, readPreconditions } from '../../records/write/conditions.ts';
import type { ResourceServices } from '../../records/services.ts';
import { documentIn, requestedChange } from '../formats/parse-body.ts';
import { idIn } from './id-in-path.ts';
import type { ResourceAnswer, ResourceExchange, ResourceHandler, ResourceKind } from './resource-exchange.ts';
import type { SearchRequest } from '../../records/search/parameters.ts';

/** One route of a collection; a path with `:id` addresses one record. */
export interface CollectionRoute<Kind extends string = ResourceKind | 'User'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly kind: Kind;
  readonly handler: ResourceHandler;
}

/** Returns the routes of a kind of record: a PUT changes one as a PATCH does, unless the kind has a `put`. */
export function routesOf<Kind extends string, Row, Filters extends object, Id>(
  record: RecordKind<Kind, Row, Filters, Id>,
): readonly CollectionRoute<Kind>[] {
  const { kind, path, create, put, change, remove } = record;
  const one = { kind, path: `${path}/:id` } as const;
  const patching = change && changing(record, change);
  const replacing = put ? putting(record, put) : patching;
  return [
    { kind, path, method: 'GET', handler: searching(record) },
    ...(create === undefined ? [] : [{ kind, path, method: 'POST', handler: creating(record, create) } as const]),
    { ...one, method: 'GET', handler: reading(record) },
    ...(replacing === undefined ? [] : [{ ...one, method: 'PUT', handler: replacing } as const]),
    ...(patching === undefined ? [] : [{ ...one, method: 'PATCH', handler: patching } as const]),
    ...(remove === undefined ? [] : [{ ...one, method: 'DELETE', handler: removing(record, remove) } as const]),
  ];
}

type AnyRecord<Row, Filters, Id> = RecordKind<string, Row, Filters, Id>;

function searching<Row, Filters extends object, Id>(record: AnyRecord<Row, Filters, Id>): ResourceHandler {
  const { path, search, view } = record;
  return async (exchange, services) => {
    const request = readSearch(exchange.query, search);
    const result = await search.find(services, exchange.box, request);
    const address = { address: `${exchange.baseUrl}${path}`, query: exchange.query };
    const show = (row: Row): View => withElements(view(row, exchange.settings, true), request.elements);
    return searchAnswer(address, request, result, show);
  };
}

/** Names the custom resource (`<namespace>/<name>`) that declares the record: REST cannot change it. */
const MANAGED_BY = 'X-Managed-By';

function reading<Row, Filters extends object, Id>(record: AnyRecord<Row, Filters, Id>): ResourceHandler {
  return async (exchange, services) => {
    const elements = readElementsOnly(exchange.query, record.search);
    const preconditions = readPreconditions(exchange);
    const id = record.idOf(idIn(exchange));
    const row = id === undefined ? undefined : await readRow(record, services, exchange, id);
    if (row === undefined) throw nothingThere(record);
    const version = record.version(row);
    const owner = record.owner?.(row);
    const headers = { ETag: entityTag(version), ...(owner && { [MANAGED_BY]: owner.name }) };
    if (isKnown(preconditions, version)) return { status: 304, headers };
    return { status: 200, headers, body: withElements(record.view(row, exchange.settings, false), elements) };
  };
}

async function readRow<Row, Filters, Id>(
  { read, builtIn }: AnyRecord<Row, Filters, Id>,
  { pool, now }: ResourceServices,
  exchange: ResourceExchange,
  id: Id,
): Promise<Row | undefined> {
  const row = await inBox(pool, exchange.box, 'snapshot', (connection) => read(connection, exchange.box, id, now()));
  return row ?? builtIn?.(id, exchange);
}

function creating<Row, Filters, Id>(
  record: AnyRecord<Row, Filters, Id>,
  create: NonNullable<AnyRecord<Row, Filters, Id>['create']>,
): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const row = await create(services, exchange.box, documentIn(exchange), exchange);
    return changedAnswer(record, exchange, { row, created: true });
  };
}

function putting<Row, Filters, Id>(
  record: AnyRecord<Row, Filters, Id>,
  put: NonNullable<AnyRecord<Row, Filters, Id>['put']>,
): ResourceHandler {
  return async (exchange, services) => {
    const written = await put(services, exchange.box, { id: idIn(exchange), ...writeOf(exchange) });
    return changedAnswer(record, exchange, written);
  };
}

function changing<Row, Filters, Id>(
  record: AnyRecord<Row, Filters, Id>,
  change: NonNullable<AnyRecord<Row, Filters, Id>['change']>,
): ResourceHandler {
  return async (exchange, services) => {
    const write = writeOf(exchange);
    const id = record.idOf(idIn(exchange));
    const row = id === undefined ? undefined : await change(services, exchange.box, { id, ...write });
    if (row === undefined) throw nothingThere(record);
    return changedAnswer(record, exchange, { row, created: false });
  };
}

function writeOf(exchange: ResourceExchange): Omit<ChangeOfRecord<unknown>, 'id'> {
  refuseParameters(exchange.query);
  const { confirmChanges } = exchange;
  const preconditions = readPreconditions(exchange);
  return { requested: requestedChange(exchange), caller: exchange, preconditions, confirmChanges };
}

function removing<Row, Filters extends object, Id>(
  record: AnyRecord<Row, Filters, Id>,
  remove: NonNullable<AnyRecord<Row, Filters, Id>['remove']>,
): ResourceHandler {
  return async (exchange, services) => {
    refuseParameters(exchange.query);
    const preconditions = readPreconditions(exchange);
    const id = record.idOf(idIn(exchange));
    if (id === undefined) demandPreconditions(preconditions, undefined);
    const row = id === undefined ? undefined : await remove(services, exchange.box, id, preconditions);
    return row === undefined ? { status: 204 } : { status: 200, body: record.view(row, exchange.settings, false) };
  };
}

function changedAnswer<Row, Filters, Id>(
  { path, view, version }: AnyRecord<Row, Filters, Id>,
  { baseUrl, settings }: ResourceExchange,
  { row, created }: Written<Row>,
): ResourceAnswer {
  const body = view(row, settings, false);
  const headers = { ETag: entityTag(version(row)), ...warningHeader(body['warnings']) };
  if (!created) return { status: 200, headers, body };
  return { status: 201, headers: { ...headers, Location: `${baseUrl}${path}/${String(body['id'])}` }, body };
}

/** Returns the header of the warnings in an answer, as the Kubernetes API writes it (299: of no cache). */
function warningHeader(warnings: unknown): Readonly<Record<string, string>> {
  if (!isList(warnings)) return {};
  return { Warning: warnings.map((text) => `299 - "${String(text).replace(/["\\]/g, '\\$&')}"`).join(', ') };
}

function nothingThere({ absent }: Pick<AnyRecord<unknown, unknown, unknown>, 'absent'>): Problem {
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

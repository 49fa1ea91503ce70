import { isList, isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';

/** A column of a table of records. */
export interface Column {
  readonly heading: string;
  readonly text: (record: JsonObject) => string;
}

/** Returns a value as text for a cell of a table. */
export function cell(value: unknown): string {
  if (isList(value)) return value.map(cell).join(', ');
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Returns a reference as text: `Client/x`. */
export function reference(value: unknown): string {
  return isObject(value) ? [value['resourceType'], value['id']].map(cell).filter(Boolean).join('/') : '';
}

/** Returns a column that shows a field as it is. */
export function column(heading: string, name: string): Column {
  return { heading, text: (record) => cell(record[name]) };
}

/** The columns of each kind of record. */
export const COLUMNS = {
  Client: [
    column('ID', 'id'),
    column('NAME', 'name'),
    column('GRANTS', 'grant_types'),
    column('SCOPE', 'scope'),
    { heading: 'ACTIVE', text: ({ active }) => cell(active ?? true) },
  ],
  AccessPolicy: [
    column('ID', 'id'),
    column('ENGINE', 'engine'),
    { heading: 'SUBJECTS', text: ({ subjects }) => cell(subjects ?? 'linked') },
    { heading: 'LINKS', text: ({ link }) => (isList(link) ? link.map(reference).join(', ') : '') },
    column('APPS', 'apps'),
  ],
  Group: [
    column('ID', 'id'),
    column('NAME', 'name'),
    column('MEMBERS', 'members'),
    column('DESCRIPTION', 'description'),
  ],
  User: [
    column('ID', 'id'),
    column('EMAIL', 'email'),
    { heading: 'STATUS', text: ({ status }) => cell(status ?? 'active') },
    { heading: 'GROUPS', text: ({ groups }) => cell(namesIn(groups)) },
  ],
  Session: [
    column('ID', 'id'),
    { heading: 'SUBJECT', text: ({ client, user }) => reference(user) || reference(client) },
    { heading: 'CLIENT', text: ({ client }) => (isObject(client) ? cell(client['id']) : '') },
    column('TYPE', 'type'),
    column('STATUS', 'status'),
    column('CREATED', 'created_at'),
    column('EXPIRES', 'expires_at'),
    column('ADDRESS', 'remote_addr'),
  ],
  AuditEvent: [
    column('TIME', 'created_at'),
    column('EVENT', 'event'),
    column('RESULT', 'result'),
    { heading: 'ACTOR', text: ({ actor }) => (isObject(actor) ? actorOf(actor) : '') },
    { heading: 'TARGET', text: ({ target }) => (isObject(target) ? reference(target) : cell(target)) },
    { heading: 'ADDRESS', text: ({ actor }) => (isObject(actor) ? cell(actor['remote_addr']) : '') },
    column('COUNT', 'count'),
  ],
} as const satisfies Readonly<Record<string, readonly Column[]>>;

function namesIn(groups: unknown): readonly unknown[] {
  return (isList(groups) ? groups : []).filter(isObject).map(({ name }) => name);
}

function actorOf({ user, client, operator }: JsonObject): string {
  return [user, client].map(reference).find((text) => text !== '') ?? cell(operator);
}

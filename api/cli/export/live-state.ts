import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { isKind, KINDS } from '../../../crds/kind.ts';
import type { BoxClient } from '../box-client.ts';
import { pagesOf } from '../pages.ts';
import type { Terminal } from '../terminal.ts';
import type { Kind } from '../../../crds/kind.ts';

/** Everything of a box that manifests can declare. */
export interface LiveState {
  readonly rows: readonly LiveRow[];
  /** Quotas that the Namespace sets, by name; empty if there are none. */
  readonly quota: JsonObject;
}

/** Reads everything of a box that manifests can declare, with progress on a terminal. Throws CliError. */
export async function liveState(client: BoxClient, terminal: Terminal): Promise<LiveState> {
  const rows: LiveRow[] = [];
  let quota: JsonObject = {};
  for await (const page of pagesOf(client, { path: '/$export', noun: 'resources' }, terminal)) {
    for (const row of page.flatMap(liveRow)) rows.push(row);
    for (const entry of page) quota = { ...quota, ...quotaIn(entry) };
  }
  return { rows: withGroupNames(rows, groupNames(rows)), quota };
}

/** Returns the quotas of an entry of the kind `Namespace`. */
function quotaIn(entry: unknown): JsonObject {
  if (!isObject(entry) || entry['kind'] !== 'Namespace' || !isObject(entry['resource'])) return {};
  const { quota } = entry['resource'];
  return isObject(quota) ? quota : {};
}

function liveRow(entry: unknown): readonly LiveRow[] {
  if (!isObject(entry) || !isKind(entry['kind']) || !isObject(entry['resource'])) return [];
  const { kind, id, object, retain, purge, has_secret, bootstrap_admin: admin, resource } = entry;
  return [
    {
      kind: KINDS[kind].kind,
      id: String(id),
      object: typeof object === 'string' ? object : undefined,
      retain: retain === true,
      purge: purge === true,
      hasSecret: has_secret === true,
      firstAdmin: isObject(admin) && typeof admin['email'] === 'string' ? admin['email'] : undefined,
      resource,
    },
  ];
}

/** Returns the names of groups by their numbers. */
export function groupNames(rows: readonly LiveRow[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap((row) => (row.kind === 'Group' ? [[String(row.resource['id']), row.id] as const] : [])));
}

/** Replaces the numbers of groups in links by their names: a number means another group in another box. */
function withGroupNames(rows: readonly LiveRow[], names: ReadonlyMap<string, string>): readonly LiveRow[] {
  return rows.map((row) => {
    const { link } = row.resource;
    if (!isList(link)) return row;
    return { ...row, resource: { ...row.resource, link: link.map((one) => namedLink(one, names)) } };
  });
}

/** Returns a link to a group by its name, if that is known. */
export function namedLink(link: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isObject(link) || link['resourceType'] !== 'Group') return link;
  return { ...link, id: names.get(String(link['id'])) ?? link['id'] };
}

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

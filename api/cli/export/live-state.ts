import { isList, isObject } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import { isKind, KINDS, type Kind } from '../../../crds/kind.ts';
import type { BoxClient } from '../box-client.ts';
import { pagesOf } from '../resource/pages.ts';
import type { Terminal } from '../terminal.ts';

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
  /** The resource; links to groups name them. */
  readonly resource: JsonObject;
}

/** Reads everything of a box that objects can declare, with progress on a terminal. Throws CliError. */
export async function liveRows(client: BoxClient, terminal: Terminal): Promise<readonly LiveRow[]> {
  const rows: LiveRow[] = [];
  for await (const page of pagesOf(client, { path: '/$export', noun: 'resources' }, terminal))
    rows.push(...page.flatMap(liveRow));
  return withGroupNames(rows);
}

function liveRow(entry: unknown): readonly LiveRow[] {
  if (!isObject(entry) || !isKind(entry['kind']) || !isObject(entry['resource'])) return [];
  const { kind, id, object, retain, purge, has_secret, resource } = entry;
  return [
    {
      kind: KINDS[kind].kind,
      id: String(id),
      object: typeof object === 'string' ? object : undefined,
      retain: retain === true,
      purge: purge === true,
      hasSecret: has_secret === true,
      resource,
    },
  ];
}

/** Replaces the numbers of groups in links by their names: a number means another group in another box. */
function withGroupNames(rows: readonly LiveRow[]): readonly LiveRow[] {
  const names = new Map(
    rows.flatMap(({ kind, id, resource }) => (kind === 'Group' ? [[String(resource['id']), id] as const] : [])),
  );
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

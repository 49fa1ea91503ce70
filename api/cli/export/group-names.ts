import type { Fault } from '../../../crds/fault.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { LiveRow } from './live-row.ts';

/** Returns the names of groups by their numbers: of those that an object can declare, and so a link can name. */
export function groupNames(rows: readonly LiveRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap((row) =>
      row.kind === 'Group' && groupFault(row) === undefined ? [[String(row.resource['id']), row.id] as const] : [],
    ),
  );
}

/** Returns the first fault that keeps objects from declaring a group: an older release took longer names over REST. */
export function groupFault({ kind, id, resource: { description } }: LiveRow): Fault | undefined {
  if (kind !== 'Group') return undefined;
  const checked = checkResource(kind, { name: id, ...(description === undefined ? {} : { description }) });
  return checked.ok ? undefined : checked.faults[0];
}

import { KINDS, type Kind } from '../crds/kind.ts';
import type { Condition, ObjectStatus } from '../operator/status/object-status.ts';
import { placeOfField } from './folder/source.ts';
import { grouped, plainText } from '../program/text.ts';

/** Maximum number of rows of one kind; objects that are not Ready come first. */
const mostRows = 40;
const mostRemarks = 20;

/**
 * Formats statuses as `kubectl get` would, one table for each kind, and below each the remarks on single objects with
 * their file and line. Ends with a line end; empty for no statuses.
 */
export function statusTables(statuses: readonly ObjectStatus[]): string {
  const tables = kindsOf(statuses).map((kind) => table(statuses.filter((status) => status.kind === kind)));
  return tables.join('\n');
}

/** Checks whether an object is Ready or suspended. */
export function isGood(status: ObjectStatus): boolean {
  const ready = condition(status, 'Ready');
  return ready?.status === 'True' || ready?.reason === 'Suspended';
}

/** Returns the argument of `kubectl get` for an object: `client.boxgate.dev/reporting`. */
function resourceName({ kind, name }: Pick<ObjectStatus, 'kind' | 'name'>): string {
  return `${KINDS[kind].singular}.boxgate.dev/${name}`;
}

function kindsOf(statuses: readonly ObjectStatus[]): readonly Kind[] {
  return Object.values(KINDS)
    .map(({ kind }) => kind)
    .filter((kind) => statuses.some((status) => status.kind === kind));
}

function table(statuses: readonly ObjectStatus[]): string {
  const shown = [...statuses].sort(byNeed).slice(0, mostRows);
  const [first] = shown;
  if (first === undefined) return '';
  const rows = [headings(first), ...shown.map(cells)];
  const more = statuses.length - shown.length;
  const rest = more > 0 ? [`… and ${grouped(more)} more, ${restSummary(statuses)}`] : [];
  return [...aligned(rows), ...rest, ...remarksOf(shown)].map((line) => `${plainText(line)}\n`).join('');
}

function restSummary(statuses: readonly ObjectStatus[]): string {
  const bad = statuses.filter((status) => !isGood(status)).length;
  return bad === 0 ? 'all Ready' : `${grouped(bad)} of all not Ready`;
}

function byNeed(one: ObjectStatus, other: ObjectStatus): number {
  return Number(isGood(one)) - Number(isGood(other)) || compare(nameOf(one), nameOf(other));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function nameOf({ namespace, name }: ObjectStatus): string {
  return `${namespace}/${name}`;
}

function headings({ columns }: ObjectStatus): readonly string[] {
  switch (columns.kind) {
    case 'Client':
      return ['NAMESPACE', 'NAME', 'ID', 'GRANTS', 'SECRET', 'POLICIES', 'READY', 'REASON'];
    case 'AccessPolicy':
      return ['NAMESPACE', 'NAME', 'ENGINE', 'SUBJECTS', 'READY', 'REASON'];
    case 'Group':
      return ['NAMESPACE', 'NAME', 'GROUP', 'READY', 'REASON'];
    case 'Box':
      return ['NAMESPACE', 'NAME', 'ISSUER', 'CLIENTS', 'POLICIES', 'READY', 'REASON'];
  }
}

function cells(status: ObjectStatus): readonly string[] {
  const ready = condition(status, 'Ready');
  return [
    status.namespace,
    resourceName(status),
    ...ownCells(status),
    ready?.status ?? 'Unknown',
    foremost(status)?.reason ?? '',
  ];
}

function ownCells({ columns }: ObjectStatus): readonly string[] {
  switch (columns.kind) {
    case 'Client':
      return [columns.id, columns.grants, columns.secret, String(columns.policies)];
    case 'AccessPolicy':
      return [columns.engine, columns.subjects];
    case 'Group':
      return [columns.name];
    case 'Box':
      return [columns.issuer, String(columns.clients), String(columns.policies)];
  }
}

/** Returns the most important condition: why it is not Ready, else a remark. A client without a policy is usual. */
function foremost(status: ObjectStatus): Condition | undefined {
  const ready = condition(status, 'Ready');
  if (ready?.status !== 'True') return ready;
  return worthSaying(status).find(({ type }) => type !== 'Granted') ?? ready;
}

function worthSaying({ conditions }: ObjectStatus): readonly Condition[] {
  return conditions.filter(({ type, status }) => {
    switch (type) {
      case 'Granted':
      case 'LinksResolved':
      case 'ServiceReady':
        return status === 'False';
      case 'InlineSecret':
      case 'NoSubjects':
      case 'OpenToAll':
      case 'GrantsEverything':
      case 'NotInForce':
      case 'OperatorOlder':
        return status === 'True';
      case 'Ready':
      case 'Valid':
      case 'SecretReady':
      case 'Synced':
      case 'Conflict':
      case 'Stalled':
        return false;
    }
  });
}

/** Returns the first remarks on some objects, and the number of the others. */
function remarksOf(statuses: readonly ObjectStatus[]): readonly string[] {
  const all = statuses.flatMap(remarks);
  return all.length <= mostRemarks
    ? all
    : [...all.slice(0, mostRemarks), `  … and ${grouped(all.length - mostRemarks)} more`];
}

/** Returns a line for each remark: `  examples/a.yaml:7: spec.grant_types must be given`. */
function remarks(status: ObjectStatus): readonly string[] {
  if (status.faults.length > 0) {
    return status.faults.map(({ path, message }) => {
      const place = path === '' ? status.place : placeOfField(status.place, path);
      return `  ${place}: ${path === '' ? '' : `${path} `}${message}`;
    });
  }
  const ready = condition(status, 'Ready');
  const said = ready?.status === 'True' ? worthSaying(status) : [ready];
  return said.flatMap((one) => (one === undefined || one.message === '' ? [] : [`  ${status.place}: ${one.message}`]));
}

function condition({ conditions }: ObjectStatus, type: Condition['type']): Condition | undefined {
  return conditions.find((one) => one.type === type);
}

/** Returns rows of cells as lines with aligned columns. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

import { faultSentence } from '../../../crds/fault.ts';
import type { PlanAnswer, PlannedChange, PlannedDecision, PlannedSubject } from '../../client/plan.ts';

/** A part of a report: a heading, and rows of cells. */
export interface ReportPart {
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Returns the parts of a report that are not empty: what changes, which sessions end, and who loses or gains access.
 */
export function planReport(answer: PlanAnswer): readonly ReportPart[] {
  const { resources, secrets, secrets_not_compared, decisions } = answer;
  const parts: readonly ReportPart[] = [
    { heading: 'Access lost', columns: accessColumns, rows: accessRows(decisions, 'lost') },
    { heading: 'Access gained', columns: accessColumns, rows: accessRows(decisions, 'gained') },
    { heading: 'Sessions that would end', columns: ['Client', 'User', 'Sessions'], rows: sessionRows(answer) },
    { heading: 'Resources', columns: ['Change', 'Resource', 'Details'], rows: resources.map(changeRow) },
    { heading: 'Secrets that change', columns: ['Client'], rows: secrets.map((id) => [id]) },
    {
      heading: 'Secrets that were not compared, and count as unchanged',
      columns: ['Client'],
      rows: secrets_not_compared.map((id) => [id]),
    },
  ];
  return parts.filter(({ rows }) => rows.length > 0);
}

/** Returns one sentence about a plan. */
export function planSummary({ box, decisions, resources, compared }: PlanAnswer): string {
  const lost = decisions.filter(({ effect }) => effect === 'lost').length;
  const gained = decisions.length - lost;
  const requests = compared.given + compared.recorded;
  return (
    `Box ${box}: ${counted(resources.length, 'resource')} would change. ` +
    `Of ${counted(requests, 'compared request')}, ${String(lost)} would be refused and ${String(gained)} newly allowed.`
  );
}

function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;
}

const accessColumns = ['Caller', 'Request', 'Policy'] as const;

function accessRows(decisions: readonly PlannedDecision[], wanted: PlannedDecision['effect']): readonly string[][] {
  return decisions
    .filter(({ effect }) => effect === wanted)
    .map(({ subject, app, method, path, policy, certain }) => [
      callerText(subject),
      `${method} ${app ?? ''}${path}`,
      certain ? policy : `${policy} (probably: it reads more of a request than is recorded)`,
    ]);
}

function callerText({ client, user, group, any_user }: PlannedSubject): string {
  const parts = [
    ...(group === undefined ? [] : [`Group/${group}`]),
    ...(user === undefined ? [] : [`User/${String(user)}`]),
    ...(any_user === true ? ['a user'] : []),
    ...(client === undefined ? [] : [`Client/${client}`]),
  ];
  return parts.length === 0 ? 'anybody' : parts.join(' with ');
}

/** Returns the sessions that end by client and user, most first. */
function sessionRows({ sessions, more_sessions }: PlanAnswer): readonly string[][] {
  const byOwner = Map.groupBy(sessions, ({ client, user }) => JSON.stringify([client, user ?? null]));
  const rows = Array.from(byOwner.values(), (ended) => {
    const [{ client, user } = { client: '', user: undefined }] = ended;
    return { client, user: user === undefined ? '' : String(user), count: ended.length };
  }).sort((one, other) => other.count - one.count);
  const shown = rows.map(({ client, user, count }) => [client, user, String(count)]);
  return more_sessions ? [...shown, ['(more)', '', '']] : shown;
}

const signs = {
  created: '+ created',
  changed: '~ changed',
  deleted: '- deleted',
  released: '- released',
  conflict: '! conflict',
  invalid: '! invalid',
} as const satisfies Record<PlannedChange['result'], string>;

function changeRow({ kind, id, result, fields = [], faults = [], detail }: PlannedChange): readonly string[] {
  const details = [
    ...(fields.length === 0 ? [] : [fields.join(', ')]),
    ...(detail === undefined ? [] : [detail]),
    ...faults.map(faultSentence),
  ];
  return [signs[result], `${kind}/${id}`, details.join('; ')];
}

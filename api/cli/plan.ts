import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { faultSentence } from '../../crds/fault.ts';
import type { PlanAnswer, PlannedChange, PlannedDecision, PlannedSubject } from '../schemas/plan.ts';
import { isList, isObject, type JsonObject } from '../../crds/path.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { onlyDocument } from './resource.ts';
import { plainText } from '../../program/text.ts';
import { widthsOf } from './output.ts';
import type { Command } from './command.ts';
import { textOption } from './option-values.ts';

/** `boxctl plan <folder>`: the effect that the manifests of a folder would have on the box. */
export const planFolder: Command = {
  name: 'plan',
  synopsis: '<folder> [--requests <file>]',
  summary: 'shows who would lose or gain access if the manifests in a folder were all that is declared in the box',
  examples: [
    'boxctl plan deploy/shop',
    'boxctl plan deploy/shop --requests requests.yaml',
    'boxctl plan deploy/shop --output markdown > comment.md',
  ],
  options: {
    requests: {
      type: 'string',
      value: '<file>',
      summary: 'requests to compare besides the recorded ones; by default requests.yaml of the folder',
    },
  },
  formats: ['markdown'],
  arguments: [1, 1],
  async run({ args: [folder = ''], values, terminal, address, box, print }) {
    const { output } = values;
    // The schemas of resources take longer to load than most commands to run.
    const { declaredObjects } = await import('./declared-folder.ts');
    const objects = declaredObjects(folder, (await address()).box);
    const requests = await givenRequests(folder, textOption(values, 'requests'));
    if (terminal.messages.isTTY === true)
      terminal.messages.write(`comparing ${objects.length.toLocaleString('en-US')} objects with the box …`);
    const client = await box();
    const lines = [...objects.map((object) => ({ object })), ...requests.map((request) => ({ request }))];
    const { body } = await client.request('POST', '/$plan', { lines });
    if (terminal.messages.isTTY === true) terminal.messages.write('\r\x1b[K');
    const answer = planAnswerOf(body);
    if (output === 'markdown') terminal.output.write(planMarkdown(answer));
    else if (output === 'json' || output === 'yaml') await print(answer, 'json', []);
    else terminal.output.write(planText(answer));
    const exit = planExit(answer);
    if (exit !== 0) throw new CliError(exit, exit === 1 ? 'the box would refuse some of the objects' : '');
  },
};

/**
 * Reads the requests of a folder's `requests.yaml`, or of `file`: a list of questions as `$explain` takes them, in
 * which a caller may be a `group`. Empty if there is no such file. Throws CliError.
 */
export async function givenRequests(folder: string, file: string | undefined): Promise<readonly JsonObject[]> {
  const found = file ?? requestsFileIn(folder);
  if (found === undefined) return [];
  const name = plainText(found);
  const { textOf } = await import('./declared-folder.ts');
  const requests = await onlyDocument(textOf(found), name);
  if (!isList(requests)) throw usageError(`${name} must be a list of requests`);
  return requests.map((request, index) => {
    if (isObject(request) && isObject(request['request'])) return request;
    const place = `${name}: entry ${String(index + 1)}`;
    throw usageError(`${place} must have a \`request\` with \`request-method\` and \`uri\``);
  });
}

function requestsFileIn(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return undefined;
  const names = ['requests.yaml', 'requests.yml', 'requests.json'];
  return names.map((name) => path.join(folder, name)).find((file) => existsSync(file));
}

/** A part of a report: a heading, and rows of cells. */
export interface ReportPart {
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Returns the parts of a report that are not empty: what changes, which sessions end, and who loses or gains access.
 */
function planReport(answer: PlanAnswer): readonly ReportPart[] {
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
function planSummary({ box, decisions, resources, compared }: PlanAnswer): string {
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

/** Reads the answer to a plan. Throws CliError for one of another release. */
function planAnswerOf(body: unknown): PlanAnswer {
  if (isPlanAnswer(body)) return body;
  throw new CliError(EXIT.unreachable, 'the answer of the box is not a plan: is it of another release?');
}

function isPlanAnswer(body: unknown): body is PlanAnswer {
  if (!isObject(body) || !isObject(body['compared'])) return false;
  const lists = ['resources', 'secrets', 'secrets_not_compared', 'sessions', 'decisions'];
  return lists.every((name) => isList(body[name]));
}

/**
 * Returns the exit code of a plan: 1 if an object is refused, 11 if access is lost, 10 if it is only gained, else 0.
 */
function planExit({ resources, sessions, decisions }: PlanAnswer): number {
  if (resources.some(({ result }) => result === 'conflict' || result === 'invalid')) return EXIT.refused;
  const isClientDeleted = resources.some(({ kind, result }) => kind === 'Client' && result === 'deleted');
  if (isClientDeleted || sessions.length > 0 || decisions.some(({ effect }) => effect === 'lost')) return EXIT.lost;
  return decisions.length > 0 ? EXIT.gained : EXIT.done;
}

/** Returns a plan as text for a terminal; control characters of the data are escaped. */
export function planText(answer: PlanAnswer): string {
  return [`${planSummary(answer)}\n`, ...planReport(answer).map(textPart)].join('\n');
}

function textPart({ heading, columns, rows }: ReportPart): string {
  const cells = rows.map((row) => row.map(plainText));
  const widths = widthsOf(columns, cells);
  const lines = cells.map((row) => `  ${row.map((cell, nth) => cell.padEnd(widths[nth] ?? 0)).join('   ')}`.trimEnd());
  return `${heading}:\n${lines.join('\n')}\n`;
}

/** Returns a plan in Markdown, for a comment on a pull request. */
function planMarkdown(answer: PlanAnswer): string {
  const parts = planReport(answer).map(markdownPart);
  return [`### Access plan\n\n${cellText(planSummary(answer))}\n`, ...parts].join('\n');
}

function markdownPart({ heading, columns, rows }: ReportPart): string {
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => row.map(cellText))];
  return `#### ${heading}\n\n${lines.map((line) => `| ${line.join(' | ')} |\n`).join('')}`;
}

/** Escapes a text so that it is shown as it is, whatever Markdown or HTML it holds. */
function cellText(text: string): string {
  return plainText(text).replaceAll(/[\\`*_{}[\]<>()#|!~@&]/g, '\\$&');
}

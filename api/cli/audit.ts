import { looksLikeEmail } from '../../crds/user-faults.ts';
import { isObject, type JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { isRefusalReason, refusals } from '../schemas/refusals.ts';
import type { BoxClient } from './box-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Command } from './command.ts';
import type { OptionValues } from './option-values.ts';
import { cell, COLUMNS, reference } from '../schemas/columns.ts';
import { listAll, given, limitOf } from './pages.ts';
import { findUser } from './user.ts';

const FILTERS = ['event', 'result', 'reason', 'client', 'target', 'member', 'session'] as const;

/** `boxctl audit`: searches the audit trail of the box. */
export const audit: Command = {
  name: 'audit',
  summary: 'searches the audit trail of the box, the newest record first',
  examples: [
    'boxctl audit',
    'boxctl audit --event user.sign_in_failed --since 2026-01-31T12:00:00Z',
    'boxctl audit --target User/7 --limit 20 --output json',
  ],
  options: {
    event: { type: 'string', value: '<event>', summary: 'only this event, such as user.created' },
    result: { type: 'string', value: 'success|failure|denied|refused', summary: 'only with this result' },
    reason: { type: 'string', value: '<reason>', summary: 'only refusals for this reason, such as wrong_secret' },
    client: { type: 'string', value: '<id>', summary: 'what this client did' },
    user: { type: 'string', value: '<id or email>', summary: 'what this user did' },
    target: { type: 'string', value: '<Kind/id>', summary: 'what was done to this resource' },
    member: { type: 'string', value: 'User/<id>', summary: 'groups that this user joined or left' },
    session: { type: 'string', value: '<id>', summary: 'what was done with the token of this session' },
    address: { type: 'string', value: '<address>', summary: 'what came from this IP address' },
    since: { type: 'string', value: '<time>', summary: 'only from this time on (RFC 3339)' },
    until: { type: 'string', value: '<time>', summary: 'only before this time (RFC 3339)' },
    limit: { type: 'string', value: '<number>', summary: 'at most so many; 100 unless you say otherwise' },
  },
  arguments: [0, 0],
  async run({ values, terminal, box, print }) {
    const { since, until, address } = values;
    const most = limitOf(values['limit'], 100);
    const times = [
      ...(since === undefined ? [] : [`ge${timeOf('since', since)}`]),
      ...(until === undefined ? [] : [`lt${timeOf('until', until)}`]),
    ];
    const client = await box();
    const actor = await userFilter(client, values['user']);
    const filters = {
      ...given(values, FILTERS),
      ...actor,
      ...(typeof address === 'string' && { remote_addr: address }),
    };
    const listing = { path: '/AuditEvent', filters, ranges: { created_at: times }, most };
    await print(await listAll(client, listing, terminal), 'table', COLUMNS.AuditEvent);
  },
};

/** Entries of the audit trail that one request can have. */
const MOST_OF_ONE = 20;

/** `boxctl why`: tells why a request was refused. */
export const why: Command = {
  name: 'why',
  synopsis: '<request ID>',
  summary: 'tells why the box refused a request, and what to do',
  examples: ['boxctl why 5f0c6e2a91b4-1f', 'boxctl audit --result refused'],
  arguments: [1, 1],
  async run({ args, terminal, box, confirm }) {
    const [id = ''] = args;
    const filters = { request_id: id, result: 'refused' };
    const found = await listAll(await box(), { path: '/AuditEvent', filters, most: MOST_OF_ONE }, terminal);
    if (found.length === 0) {
      const rules = 'a refusal is recorded within 2 seconds, and beyond 60 a minute without its ID';
      throw new CliError(
        EXIT.refused,
        `no refusal has the request ID ${plainText(id)}: ${rules}. \`boxctl audit --result refused\` lists them`,
      );
    }
    await confirm(found.map(refusalText).join('\n\n'), found, COLUMNS.AuditEvent);
  },
};

/** Returns a refusal in words. */
function refusalText(record: JsonObject): string {
  const { reason, actor, target, sent } = record;
  const { wrong, fix } = isRefusalReason(reason) ? refusals[reason] : { wrong: cell(record['event']), fix: '' };
  const { client, user, remote_addr: address } = isObject(actor) ? actor : {};
  const lines = [
    ['when', cell(record['created_at'])],
    ['who', [reference(user), reference(client), cell(address)].filter(Boolean).join(', ')],
    ['about', reference(target)],
    ['sent', cell(sent)],
    ['wrong', isRefusalReason(reason) ? `${wrong} (${reason})` : wrong],
    ['to do', fix],
  ];
  return lines
    .filter(([, text]) => text !== '')
    .map(([name = '', text = '']) => `${name.padEnd(5)}  ${plainText(text)}`)
    .join('\n');
}

/** Returns a time or a date. Throws CliError for what begins with no date. */
function timeOf(name: string, value: OptionValues[string]): string {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/.test(value))
    return value;
  throw usageError(`--${name} must be a date or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z`);
}

/** Returns the filter for a user. An ID is not looked up: the records of a deleted user stay. */
async function userFilter(client: BoxClient, user: OptionValues[string]): Promise<Readonly<Record<string, string>>> {
  if (typeof user !== 'string') return {};
  return { user: looksLikeEmail(user) ? String((await findUser(client, user)).id) : user };
}

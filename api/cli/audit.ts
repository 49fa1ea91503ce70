import { looksLikeEmail } from '../../crds/user-faults.ts';
import type { BoxClient } from './box-client.ts';
import { usageError } from './cli-error.ts';
import type { Command } from './command.ts';
import type { OptionValues } from './option-values.ts';
import { COLUMNS } from '../schemas/columns.ts';
import { listAll, given, limitOf } from './pages.ts';
import { findUser } from './user.ts';

const FILTERS = ['event', 'result', 'client', 'target', 'member', 'session'] as const;

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
    result: { type: 'string', value: 'success|failure|denied', summary: 'only with this result' },
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

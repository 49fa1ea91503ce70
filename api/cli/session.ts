import { isObject, type JsonObject } from '../../crds/path.ts';
import { grouped, plainText, uuidText } from '../../program/text.ts';
import type { BoxClient } from './box-client.ts';
import { usageError } from './cli-error.ts';
import type { Command, Invocation } from './command.ts';
import { cell, COLUMNS } from '../schemas/columns.ts';
import { listAll, given, limitOf } from './pages.ts';
import { missing } from './resource.ts';
import { findUser } from './user.ts';
import { decoded } from './token.ts';

/** Sessions to end, by whether the token of the caller survives it. */
interface SeparatedSessions {
  readonly others: readonly JsonObject[];
  /** The caller's own session and those of its family: they end together, and the token with them. */
  readonly own: readonly JsonObject[];
}

/** An opaque access token: 56 bytes in base64url, of which the ID of the session is bytes 4 to 20. */
const OPAQUE = /^bgt_([A-Za-z0-9_-]{75})$/;

/** Returns the ID of the session of an access token: part of an opaque one, the `jti` of a JWT (RFC 9068 §2.2). */
function sessionIdOf(token: string): string | undefined {
  const [, bytes] = OPAQUE.exec(token) ?? [];
  if (bytes !== undefined) return uuidText(Buffer.from(bytes, 'base64url').toString('hex', 4, 20));
  const { claims } = decoded(token);
  return isObject(claims) && typeof claims['jti'] === 'string' ? claims['jti'] : undefined;
}

/** Separates the caller's own session and its family from other sessions, each in the order given. */
function separateOwn(sessions: readonly JsonObject[], ownId: string | undefined): SeparatedSessions {
  const parents = new Map(sessions.map(({ id, parent }) => [cell(id), parentId(parent)]));
  if (ownId === undefined || !parents.has(ownId)) return { others: sessions, own: [] };
  const family = firstOf(ownId, parents);
  const { others = [], own = [] } = Object.groupBy(sessions, ({ id }) =>
    firstOf(cell(id), parents) === family ? 'own' : 'others',
  );
  return { others, own };
}

function parentId(parent: unknown): string | undefined {
  return isObject(parent) ? cell(parent['id']) : undefined;
}

/** Returns the ID of the first session of a family, as far as its parents are known. */
function firstOf(id: string, parents: ReadonlyMap<string, string | undefined>): string {
  const passed = new Set([id]);
  let first = id;
  for (let parent = parents.get(id); parent !== undefined && !passed.has(parent); parent = parents.get(parent)) {
    passed.add(parent);
    first = parent;
  }
  return first;
}

const subjects = {
  client: { type: 'string', value: '<id>', summary: 'those of this client' },
  user: { type: 'string', value: '<id or email>', summary: 'those of this user' },
} as const;

const list: Command = {
  name: 'session list',
  summary: 'lists sessions, the newest first',
  examples: ['boxctl session list --status active', 'boxctl session list --user ann@example.com --limit 20'],
  options: {
    ...subjects,
    type: { type: 'string', value: '<grant>', summary: 'those that came from this grant' },
    status: { type: 'string', value: 'active|expired|closed|revoked', summary: 'those with this status' },
    limit: { type: 'string', value: '<number>', summary: 'at most so many; 100 unless you say otherwise' },
  },
  arguments: [0, 0],
  async run(invocation) {
    const { values, terminal, print } = invocation;
    const most = limitOf(values['limit'], 100);
    const client = await invocation.box();
    const filters = { ...given(values, ['type', 'status']), ...(await subjectOf(client, invocation)) };
    await print(await listAll(client, { path: '/Session', filters, most }, terminal), 'table', COLUMNS.Session);
  },
};

const show: Command = {
  name: 'session show',
  synopsis: '<id>',
  summary: 'prints one session',
  examples: ['boxctl session show 019a0000-0000-7000-8000-000000000000'],
  arguments: [1, 1],
  async run({ args: [id = ''], box, print }) {
    const client = await box();
    const { status, body } = await client.request('GET', pathOf(id), { expected: 404 });
    if (status === 404) throw missing(client, 'session', id);
    await print(body, 'yaml', COLUMNS.Session);
  },
};

const end: Command = {
  name: 'session end',
  synopsis: '[<id>...] [--client <id>] [--user <id or email>]',
  summary:
    'ends sessions, with their refresh tokens: those named, or all active ones of a client, of a user, or of both',
  examples: [
    'boxctl session end 019a0000-0000-7000-8000-000000000000',
    'boxctl session end --client orders',
    'boxctl session end --user ann@example.com',
  ],
  options: subjects,
  hasNoRecord: true,
  arguments: [0, 100],
  async run(invocation) {
    const { args, terminal } = invocation;
    const client = await invocation.box();
    const filters = await subjectOf(client, invocation);
    if ((args.length === 0) === (Object.keys(filters).length === 0))
      throw usageError('name the sessions, or give --client or --user');
    const ended = args.length > 0 ? await endNamed(client, args) : await endAll(client, filters, terminal);
    const noun = ended === 1 ? 'session' : 'sessions';
    terminal.output.write(`Ended ${grouped(ended)} ${noun} in the box ${client.box}.\n`);
  },
};

/** `boxctl session list`, `show` and `end`. */
export const sessionCommands: readonly Command[] = [list, show, end];

/** Ends the sessions that are named, the caller's own one last: its token is refused from then on. */
async function endNamed(client: BoxClient, ids: readonly string[]): Promise<number> {
  const own = sessionIdOf(client.token);
  const { others = [], last = [] } = Object.groupBy(ids, (id) => (id.toLowerCase() === own ? 'last' : 'others'));
  for (const id of [...others, ...last]) {
    const { status } = await client.request('DELETE', pathOf(id));
    if (status === 204) throw missing(client, 'session', plainText(id));
  }
  return ids.length;
}

/** Ends all active sessions of a subject. If the caller's own is among them, it goes last, and its family with it. */
async function endAll(
  client: BoxClient,
  filters: Readonly<Record<string, string>>,
  { messages }: Invocation['terminal'],
): Promise<number> {
  const found = await listAll(client, { path: '/Session', filters: { ...filters, status: 'active' } }, { messages });
  const ownId = sessionIdOf(client.token);
  const { others, own } = separateOwn(found, ownId);
  let ended = 0;
  for (const { id } of others.toReversed()) {
    await client.request('DELETE', pathOf(cell(id)));
    ended += 1;
    if (messages.isTTY === true && ended % 100 === 0) messages.write(`\r${grouped(ended)} ended`);
  }
  if (ownId !== undefined && own.length > 0) await client.request('DELETE', pathOf(ownId));
  if (messages.isTTY === true && ended >= 100) messages.write('\r\x1b[K');
  return ended + own.length;
}

async function subjectOf(client: BoxClient, { values }: Invocation): Promise<Readonly<Record<string, string>>> {
  const { client: id, user } = values;
  return {
    ...(typeof id === 'string' ? { client: id } : {}),
    ...(typeof user === 'string' ? { user: String((await findUser(client, user)).id) } : {}),
  };
}

function pathOf(id: string): string {
  return `/Session/${encodeURIComponent(id)}`;
}

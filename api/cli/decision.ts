import { isList, isObject, type JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Command, Invocation, CommandOption } from './command.ts';
import { cell, column } from '../schemas/columns.ts';
import { several } from './pages.ts';
import { looksLikeEmail } from '../../crds/user-faults.ts';
import { noBoxAnswer, type BoxClient } from './box-client.ts';
import { findUser } from './user.ts';

/** The arguments of a question in a help text. */
const QUESTION = '<subject> <method> <path>';

/** Options of a question to the policies of a box. */
const QUESTION_OPTIONS: Readonly<Record<string, CommandOption>> = {
  client: { type: 'string', value: '<id>', summary: 'the client that a user signed in to; `boxgate.ui`' },
  scope: { type: 'string', value: '<scopes>', summary: 'scope of the token; `boxgate` for a user' },
  app: { type: 'string', value: '<app>', summary: 'an app behind a gateway, not the box itself' },
  'remote-addr': { type: 'string', value: '<address>', summary: 'address of the caller' },
  header: { type: 'string', multiple: true, value: '<name: value>', summary: 'a header of the request' },
  body: { type: 'string', value: '<JSON>', summary: 'body of the request' },
};

/** A decision of the policies of a box with what each candidate says. */
interface Explanation {
  readonly granted: boolean;
  readonly policy: string | undefined;
  /** The client that the box assumed for a user. */
  readonly assumedClient: string | undefined;
  readonly candidates: readonly JsonObject[];
  /** After a denial: policies for others that would grant the request. */
  readonly wouldGrant: readonly JsonObject[];
}

/** Asks the box how its policies decide on a request (`POST /AccessPolicy/$explain`). Throws CliError. */
async function askPolicies(client: BoxClient, invocation: Invocation): Promise<Explanation> {
  const { args, values } = invocation;
  const [subject = '', method = '', path = ''] = args;
  const question = {
    subject: { ...(await subjectOf(client, subject)), ...tokenOf(values) },
    request: { 'request-method': method.toLowerCase(), ...requestOf(path, values) },
    ...(typeof values['app'] === 'string' ? { app: values['app'] } : {}),
  };
  const { body } = await client.request('POST', '/AccessPolicy/$explain', { body: question });
  if (!isObject(body)) throw noBoxAnswer(client.base);
  const { granted, policy, assumed_client: assumed, candidates, would_grant: others } = body;
  if (typeof assumed === 'string') {
    const note = `the user is taken to be signed in to ${plainText(assumed)}; --client names another client`;
    invocation.terminal.messages.write(`boxctl: ${note}\n`);
  }
  return {
    granted,
    policy: typeof policy === 'string' ? policy : undefined,
    assumedClient: typeof assumed === 'string' ? assumed : undefined,
    candidates: isList(candidates) ? candidates.filter(isObject) : [],
    wouldGrant: isList(others) ? others.filter(isObject) : [],
  };
}

/** Tells why a candidate does not grant: its fault, or what its rule wants; '' if it does, or the box does not say. */
function reasonOf({ fault, lacks }: JsonObject): string {
  if (typeof fault === 'string') return fault;
  if (!isObject(lacks)) return '';
  const { path, wants } = lacks;
  const part = cell(path) || 'the request';
  if (wants === undefined) return `its rule is not true for ${part}`;
  const text = JSON.stringify(wants);
  return `its rule wants ${part}: ${text.length > LONGEST_WANTED ? `${text.slice(0, LONGEST_WANTED)} …` : text}`;
}

/** Characters of what a rule wants; the whole is in the policy. */
const LONGEST_WANTED = 200;

/** Returns the subject that a text names: `client:<id>`, `user:<id or email>`, an email, or `anyone`. */
async function subjectOf(client: BoxClient, text: string): Promise<JsonObject> {
  if (text === 'anyone') return {};
  const [, kind = '', id = ''] = /^(client|user)[:/](.+)$/i.exec(text) ?? [];
  if (kind.toLowerCase() === 'client') return { client: id };
  if (kind.toLowerCase() === 'user' || looksLikeEmail(text)) return { user: (await findUser(client, id || text)).id };
  throw usageError('the subject must be client:<id>, user:<id or email>, an email, or anyone');
}

function tokenOf({ client, scope }: Invocation['values']): JsonObject {
  return {
    ...(typeof client === 'string' ? { client } : {}),
    ...(typeof scope === 'string' ? { scope } : {}),
  };
}

function requestOf(path: string, values: Invocation['values']): JsonObject {
  if (!path.startsWith('/')) throw usageError('the path must begin with a slash, below the base URL of the box');
  const headers = Object.fromEntries(several(values['header']).map(headerOf));
  return {
    // As typed: the box reads dots, backslashes and repeated parameters as it does those of a request.
    uri: path.replace(/\P{ASCII}+/gu, encodeURIComponent),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(typeof values['remote-addr'] === 'string' ? { 'remote-addr': values['remote-addr'] } : {}),
    ...(typeof values['body'] === 'string' ? { body: bodyOf(values['body']) } : {}),
  };
}

function headerOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon > 0) return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
  throw usageError('--header must be a name, a colon and a value');
}

function bodyOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw usageError('--body must be JSON');
  }
}

/** `boxctl explain`. */
export const explain: Command = {
  name: 'explain',
  synopsis: QUESTION,
  summary: 'prints every policy for a client or user, and whether it allows a request',
  examples: [
    'boxctl explain client:orders GET /Client',
    'boxctl explain ann@example.com POST /users --body \'{"email": "bea@example.com"}\' --output json',
  ],
  options: QUESTION_OPTIONS,
  arguments: [3, 3],
  async run(invocation) {
    const { candidates } = await askPolicies(await invocation.box(), invocation);
    await invocation.print(candidates, 'table', [
      column('POLICY', 'policy'),
      column('ENGINE', 'engine'),
      { heading: 'GRANTS', text: ({ granted }) => (granted === true ? 'yes' : 'no') },
      { heading: 'REASON', text: reasonOf },
    ]);
  },
};

const columns = [column('GRANTED', 'granted'), column('POLICY', 'policy')];

/** `boxctl can`: exits with 0 if a policy allows the request, and with 1 if none does. */
export const can: Command = {
  name: 'can',
  synopsis: QUESTION,
  summary: 'tells whether a client or user may send a request, and by which policy; exits with 1 if not',
  examples: [
    'boxctl can client:orders GET /Client',
    'boxctl can ann@example.com DELETE /users/7',
    'boxctl can user:7 GET /invoices --app billing',
  ],
  options: QUESTION_OPTIONS,
  arguments: [3, 3],
  async run(invocation) {
    const explanation = await askPolicies(await invocation.box(), invocation);
    const { granted, policy = '', assumedClient, candidates, wouldGrant } = explanation;
    const hasRecord = invocation.values['output'] !== undefined;
    const record = {
      granted,
      policy: explanation.policy,
      assumed_client: assumedClient,
      candidates,
      would_grant: wouldGrant,
    };
    if (granted || hasRecord) await invocation.confirm(`yes, by the policy ${plainText(policy)}`, record, columns);
    if (granted) return;
    throw new CliError(EXIT.refused, hasRecord ? '' : `no: ${denialOf(explanation)}${hintFor(invocation)}`);
  },
};

/** Tells what is missing: a policy for the subject, or a rule that is true for the request. */
function denialOf({ candidates, wouldGrant }: Explanation): string {
  const head =
    candidates.length === 0
      ? 'no policy is for this subject. Link one to it (`boxctl policy new --help`)'
      : 'the policies for this subject do not allow it';
  const closest = candidates.map((candidate) => {
    const reason = reasonOf(candidate) || 'its rule is not true for this request';
    return `${cell(candidate['policy'])} (${cell(candidate['engine'])}): ${reason}`;
  });
  const others = wouldGrant.map(({ policy, link }) => `${cell(policy)} would allow it: it is for ${linkedText(link)}`);
  return [head, ...[...closest, ...others].map((line) => `  ${plainText(line)}`)].join('\n');
}

/** Names whom a policy is linked to: `members of the group admins`. */
function linkedText(links: unknown): string {
  const texts = (isList(links) ? links : []).filter(isObject).map(({ resourceType, id }) => {
    if (resourceType === 'Group') return `members of the group ${cell(id)}`;
    return `the ${cell(resourceType).toLowerCase()} ${cell(id)}`;
  });
  return texts.join(', ');
}

/** Returns a line about the scope, which a token of a client has only if it is requested. */
function hintFor({ args, values }: Invocation): string {
  const isClient = /^client[:/]/i.test(args[0] ?? '');
  return isClient && values['scope'] === undefined
    ? '\n  the token is taken to have no scope; --scope gives it one'
    : '';
}

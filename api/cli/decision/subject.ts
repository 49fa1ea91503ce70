import { isList, isObject, type JsonObject } from '../../../crds/json-value.ts';
import { looksLikeEmail } from '../../../crds/user-faults.ts';
import { noBoxAnswer, type BoxClient } from '../box-client.ts';
import { usageError } from '../cli-error.ts';
import type { CommandOption, Invocation } from '../command.ts';
import { cell, several } from '../resource/texts.ts';
import { findUser } from '../user/user.ts';

/** The arguments of a question in a help text. */
export const QUESTION = '<subject> <method> <path>';

/** Options of a question to the policies of a box. */
export const QUESTION_OPTIONS: Readonly<Record<string, CommandOption>> = {
  client: { type: 'string', value: '<id>', summary: 'the client that a user signed in to' },
  scope: { type: 'string', value: '<scopes>', summary: 'scope of the token; `boxgate` for a user' },
  app: { type: 'string', value: '<app>', summary: 'an app behind a gateway, not the box itself' },
  'remote-addr': { type: 'string', value: '<address>', summary: 'address of the caller' },
  header: { type: 'string', multiple: true, value: '<name: value>', summary: 'a header of the request' },
  body: { type: 'string', value: '<JSON>', summary: 'body of the request' },
};

/** A decision of the policies of a box with what each candidate says. */
export interface Explanation {
  readonly granted: boolean;
  readonly policy: string | undefined;
  readonly candidates: readonly JsonObject[];
  /** After a denial: policies for others that would grant the request. */
  readonly wouldGrant: readonly JsonObject[];
}

/** Asks the box how its policies decide on a request (`POST /AccessPolicy/$explain`). Throws CliError. */
export async function askPolicies(client: BoxClient, invocation: Invocation): Promise<Explanation> {
  const { args, values } = invocation;
  const [subject = '', method = '', path = ''] = args;
  const question = {
    subject: { ...(await subjectOf(client, subject)), ...tokenOf(values) },
    request: { 'request-method': method.toLowerCase(), ...requestOf(path, values) },
    ...(typeof values['app'] === 'string' ? { app: values['app'] } : {}),
  };
  const { body } = await client.request('POST', '/AccessPolicy/$explain', { body: question });
  if (!isObject(body)) throw noBoxAnswer(client.base);
  const { granted, policy, candidates, would_grant: others } = body;
  return {
    granted,
    policy: typeof policy === 'string' ? policy : undefined,
    candidates: isList(candidates) ? candidates.filter(isObject) : [],
    wouldGrant: isList(others) ? others.filter(isObject) : [],
  };
}

/** Tells why a candidate does not grant: its fault, or what its rule wants; '' if it does, or the box does not say. */
export function reasonOf({ fault, lacks }: JsonObject): string {
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

import { isObject, type JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { noBoxAnswer, read, refusal, requireBox, send } from './box-client.ts';
import type { KeptLogin, KeptState, State } from './state-file.ts';
import type { BuiltInClient } from '../../crds/reserved-ids.ts';
import { CliError, EXIT, StorageError } from './cli-error.ts';

/** The client that every box has for this tool. */
export const OWN_CLIENT = 'boxgate.cli' satisfies BuiltInClient;

/** Milliseconds before its expiry from which on an access token is replaced: a command needs a moment. */
const MARGIN = 30_000;

/**
 * Returns the access token of the sign-in to a box, refreshed if it has expired; undefined if there is no sign-in. Of
 * several runs at once one refreshes it, and the others take its result. Where it cannot be kept, `warn` gets the
 * reason. Throws CliError if the sign-in is over.
 */
export async function keptToken(state: State, base: string, warn: (text: string) => void): Promise<string | undefined> {
  const kept = (await state.read()).logins?.[base];
  if (kept === undefined || isFresh(kept)) return kept?.access_token;
  let unkept: KeptLogin | undefined;
  const refreshing = state.update(async (now) => {
    const login = now.logins?.[base];
    if (login === undefined || isFresh(login)) return { change: {}, result: login?.access_token };
    unkept = await refreshed(base, login);
    return { change: withLogin(now, base, unkept), result: unkept?.access_token };
  });
  const token = await refreshing.catch(async (error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    warn(`${error.message}. The refreshed sign-in is lost after this command`);
    return (unkept ?? (await refreshed(base, kept)))?.access_token;
  });
  if (token !== undefined) return token;
  throw new CliError(EXIT.refused, 'the sign-in is over: run `boxctl login`');
}

/** Returns the change of the state that keeps a sign-in to a box, or removes it. */
export function withLogin({ logins = {} }: KeptState, base: string, login: KeptLogin | undefined): KeptState {
  const { [base]: _before, ...others } = logins;
  return { logins: login === undefined ? others : { ...others, [base]: login } };
}

function isFresh({ expires_at }: KeptLogin): boolean {
  return expires_at === undefined || expires_at - Date.now() > MARGIN;
}

/** Returns the next tokens; undefined when there are none to be had. */
async function refreshed(base: string, login: KeptLogin): Promise<KeptLogin | undefined> {
  const { client, refresh_token, box } = login;
  if (refresh_token === undefined) return undefined;
  const next = await requestTokens(base, { grant_type: 'refresh_token', client_id: client, refresh_token });
  // A refresh without rotation returns no other token: the one that there is stays.
  return next === INVALID_GRANT ? undefined : { refresh_token, ...next, ...(box === undefined ? {} : { box }) };
}

/** Parameters of a token request. */
export interface TokenFields extends Readonly<Record<string, string>> {
  readonly grant_type: string;
  readonly client_id: string;
}

/** A refused token request: the grant is not valid, or no longer (RFC 6749 §5.2, `invalid_grant`). */
export const INVALID_GRANT = 'invalid-grant';

/** Requests tokens of a box (RFC 6749 §4.1.3, §4.4.2, §6). Throws CliError unless the grant is accepted or invalid. */
export async function requestTokens(base: string, fields: TokenFields): Promise<KeptLogin | typeof INVALID_GRANT> {
  const sent = Date.now();
  const { response, answer } = await post(base, fields);
  const { expires_in, refresh_token, error } = answer;
  if (response.status === 400 && error === 'invalid_grant') return INVALID_GRANT;
  return {
    client: fields.client_id,
    access_token: accessTokenIn(response, answer, fields),
    ...(typeof expires_in === 'number' ? { expires_at: sent + expires_in * 1000 } : {}),
    ...(typeof refresh_token === 'string' ? { refresh_token } : {}),
  };
}

/** Returns an access token for a client (RFC 6749 §4.4). Throws CliError. */
export function clientToken(base: string, id: string, secret: string): Promise<string> {
  return requestAccessToken(base, { grant_type: 'client_credentials', client_id: id, client_secret: secret });
}

/** Returns an access token for a client that an assertion authenticates (RFC 7523 §2.2). Throws CliError. */
export function assertedToken(base: string, id: string, assertion: string): Promise<string> {
  return requestAccessToken(base, {
    grant_type: 'client_credentials',
    client_id: id,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
}

async function requestAccessToken(base: string, fields: TokenFields): Promise<string> {
  const { response, answer } = await post(base, fields);
  return accessTokenIn(response, answer, fields);
}

interface TokenAnswer {
  readonly response: Response;
  readonly answer: JsonObject;
}

async function post(base: string, fields: TokenFields): Promise<TokenAnswer> {
  const response = await send(`${base}/auth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const { body } = await read(response, base);
  if (response.status === 404) await requireBox(base);
  const answer = isObject(body) ? body : {};
  if (response.ok && typeof answer['access_token'] !== 'string') throw noBoxAnswer(base);
  return { response, answer };
}

/** Returns the access token of an answer. Throws CliError if it has none. */
function accessTokenIn(response: Response, answer: JsonObject, { client_id }: TokenFields): string {
  const { access_token } = answer;
  if (response.ok && typeof access_token === 'string') return access_token;
  throw refusal(`the token request of client ${plainText(client_id)}`, response, answer);
}

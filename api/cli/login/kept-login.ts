import type { BuiltInClient } from '../../../crds/reserved-ids.ts';
import { CliError, EXIT, StorageError } from '../cli-error.ts';
import type { KeptLogin, KeptState, State } from '../state-file.ts';
import { INVALID_GRANT, requestTokens } from './token-endpoint.ts';

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

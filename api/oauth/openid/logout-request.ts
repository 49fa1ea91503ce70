import { allOfForm, withoutEmpty } from '../parameters.ts';
import type { Parameters } from '../parameters.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthServices } from '../services.ts';
import type { BoxState } from '../../state/box-state.ts';
import { readIdTokenHint } from './id-token-hint.ts';

/** A wish of an app that somebody be signed out, judged: of an `untrusted` one nothing is done. */
export type JudgedLogout =
  | { readonly verdict: 'untrusted' }
  | {
      readonly verdict: 'good';
      /** Whom its id_token was about; undefined: it has none, and the person has to be asked. */
      readonly user: number | undefined;
      /** Where the app wants the person back; undefined: nowhere. */
      readonly address: string | undefined;
    };

const untrusted = { verdict: 'untrusted' } as const;

/**
 * Judges a logout request (OpenID Connect RP-Initiated Logout §2, §3). `query` is as it came, without its question mark.
 * Undefined when there is no such box. Throws Outage.
 */
export function judgeLogout(
  box: string,
  query: string,
  services: Pick<OAuthServices, 'states' | 'issuer'>,
): Promise<JudgedLogout | undefined> {
  return services.states.decide(box, async (state, statements) => {
    const parameters = readQuery(query);
    const value = parameters === undefined ? untrusted : await judged(parameters, state, services.issuer(state));
    return { version: await statements.version(box), value };
  });
}

function readQuery(query: string): Parameters | undefined {
  try {
    return withoutEmpty(allOfForm(query));
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

async function judged(parameters: Parameters, state: BoxState, issuer: string): Promise<JudgedLogout> {
  const text = parameters.get('id_token_hint');
  const hint = text === undefined ? undefined : await readIdTokenHint(text, state.keys, issuer);
  const named = parameters.get('client_id');
  const client = hint?.client ?? named;
  // The two must be of one client (§2).
  if ((text !== undefined && hint === undefined) || (named !== undefined && named !== client)) return untrusted;
  const wanted = parameters.get('post_logout_redirect_uri');
  if (wanted === undefined) return { verdict: 'good', user: hint?.user, address: undefined };
  const found = client === undefined ? undefined : state.clients.get(client)?.client;
  // Exactly one of those that the client has registered, as a string (§3).
  if (found?.post_logout_redirect_uris?.includes(wanted) !== true || found.active === false) return untrusted;
  return { verdict: 'good', user: hint?.user, address: withState(wanted, parameters.get('state')) };
}

function withState(address: string, state: string | undefined): string {
  if (state === undefined) return address;
  return `${address}${address.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

import type { Client } from '../../../crds/client.ts';
import { clientOf } from '../built-in-clients.ts';
import { allOfForm, withoutEmpty } from '../token/parameters.ts';
import type { Parameters } from '../token/parameters.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthServices } from '../services.ts';
import type { BoxState } from '../../box/box-state.ts';
import { KEY_GONE, readIdTokenHint } from '../authorization/request/user-hint.ts';
import type { IdTokenHint } from '../authorization/request/user-hint.ts';

/** Verdict on an app's request to sign a user out: an `untrusted` one has no effect. A `good` one may lead nowhere. */
export type ValidatedLogout =
  | { readonly verdict: 'untrusted' }
  | {
      readonly verdict: 'good';
      /** User of its id_token, who is not asked; undefined if none can be verified, or the address is not listed. */
      readonly user: number | undefined;
      /** Fault of the address that the app wants: the request leads nowhere then. Undefined: none. */
      readonly fault?: LogoutFault;
      /** Address that the app wants the user to return to; undefined if none. */
      readonly address: string | undefined;
      /** Query of a request that names the same address and client without the id_token; empty without an address. */
      readonly withoutHint: string;
    };

/** `unlisted`: its client has not registered the address; `no-client`: nothing names a client that could have. */
type LogoutFault = 'unlisted' | 'no-client';

const untrusted = { verdict: 'untrusted' } as const;

/**
 * Validates a logout request (OpenID Connect RP-Initiated Logout §2 to §4). `query` is as it came, without its question
 * mark; the text of a form is the same. Undefined when there is no such box. Throws Outage.
 */
export function validateLogout(
  box: string,
  query: string,
  services: Pick<OAuthServices, 'states' | 'issuer'>,
): Promise<ValidatedLogout | undefined> {
  return services.states.decide(box, async (state) => {
    const parameters = readQuery(query);
    return parameters === undefined ? untrusted : validated(parameters, state, services.issuer(state));
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

async function validated(parameters: Parameters, state: BoxState, issuer: string): Promise<ValidatedLogout> {
  const hint = await hintOf(parameters, state, issuer);
  if (hint === 'unreadable') return untrusted;
  const clientAt = (id: string | undefined): Client | undefined =>
    id === undefined ? undefined : clientOf(state, id, issuer)?.client;
  const wanted = parameters.get('post_logout_redirect_uri');
  const named = parameters.get('client_id');
  // An id_token that cannot be verified is not used (§4). The user may still want to sign out, and is asked.
  if (hint === KEY_GONE) {
    if (wanted === undefined) return { verdict: 'good', user: undefined, ...nowhere };
    const isListed = listsAddress(clientAt(named), wanted);
    return { verdict: 'good', user: undefined, ...(isListed ? leadingTo(wanted, named, parameters) : refused(named)) };
  }
  const client = hint?.client ?? named;
  // The two must name the same client (§2).
  if (named !== undefined && named !== client) return untrusted;
  if (wanted === undefined) return { verdict: 'good', user: hint?.user, ...nowhere };
  // Only the redirect is refused (§3): the user may still want to sign out, and is asked.
  if (!listsAddress(clientAt(client), wanted)) return { verdict: 'good', user: undefined, ...refused(client) };
  return { verdict: 'good', user: hint?.user, ...leadingTo(wanted, client, parameters) };
}

/** Reads the `id_token_hint`; undefined when there is none. */
async function hintOf(
  parameters: Parameters,
  { keys }: BoxState,
  issuer: string,
): Promise<IdTokenHint | typeof KEY_GONE | 'unreadable' | undefined> {
  const text = parameters.get('id_token_hint');
  return text === undefined ? undefined : ((await readIdTokenHint(text, keys, issuer)) ?? 'unreadable');
}

/** Checks whether an active client has registered exactly this address, compared as a string (§3). */
function listsAddress(client: Client | undefined, address: string): boolean {
  return client?.post_logout_redirect_uris?.includes(address) === true && client.active !== false;
}

const nowhere = { address: undefined, withoutHint: '' } as const;

function refused(client: string | undefined) {
  return { ...nowhere, fault: client === undefined ? 'no-client' : 'unlisted' } as const;
}

function leadingTo(
  address: string,
  client: string | undefined,
  parameters: Parameters,
): { readonly address: string; readonly withoutHint: string } {
  const state = parameters.get('state');
  const query = new URLSearchParams(client === undefined ? {} : { client_id: client });
  query.set('post_logout_redirect_uri', address);
  if (state !== undefined) query.set('state', state);
  return { address: withState(address, state), withoutHint: query.toString() };
}

function withState(address: string, state: string | undefined): string {
  if (state === undefined) return address;
  return `${address}${address.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

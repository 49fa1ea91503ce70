/** A reason of refusals: the event that records it, what is wrong, and what to do about it. */
interface ReasonMeaning {
  readonly event: string;
  readonly result: 'failure' | 'denied';
  readonly wrong: string;
  readonly fix: string;
}

const unproven = { event: 'client.authentication_failed', result: 'failure' } as const;
const refused = { event: 'client.request_refused', result: 'denied' } as const;
const badToken = { event: 'token.refused', result: 'failure' } as const;
const denied = { event: 'access.denied', result: 'denied' } as const;
const notSignedIn = { event: 'user.sign_in_failed', result: 'failure' } as const;

/** Reasons of refusals, in the order of docs/reference/refusals.md, which has their texts. */
export const refusals = {
  unknown_client: {
    ...unproven,
    wrong: 'the box has no client with this ID',
    fix: 'Compare the `client_id` and the issuer of the app with `boxctl client list` of this box',
  },
  inactive_client: {
    ...unproven,
    wrong: 'the client is inactive, or its box',
    fix: 'Set `active: true` on the client or on the Box, or remove the field',
  },
  no_secret: {
    ...unproven,
    wrong: 'a client that can authenticate sent no proof',
    fix: 'Give the app its secret; an app that can keep none is a client without one',
  },
  wrong_secret: {
    ...unproven,
    wrong: 'the secret is none of the client',
    fix: 'Copy the secret again, without a line break at its end, or rotate it',
  },
  retired_secret: {
    ...unproven,
    wrong: 'the secret was replaced, and the time of the previous one is over',
    fix: 'Give the app the new secret, and restart it',
  },
  malformed_credentials: {
    ...unproven,
    wrong: 'no client is named, or the Authorization header is not Basic',
    fix: 'Send `client_id`, or `Authorization: Basic base64(client_id:client_secret)`',
  },
  wrong_assertion: {
    ...unproven,
    wrong: 'the client assertion or the token of a ServiceAccount does not prove the client',
    fix: 'Compare `jwks` or `service_accounts` of the client with the key, the `iss`, `sub` and `aud` of the assertion',
  },
  assertion_time: {
    ...unproven,
    wrong: 'the assertion has expired, or its times are in the future',
    fix: 'Set the clock of the app by NTP, and make an assertion for each request',
  },
  redirect_uri_not_listed: {
    ...refused,
    wrong: 'the client lists another `redirect_uri`, or none',
    fix: 'List the address that was sent, character by character, in `redirect_uris` of the client',
  },
  wrong_code_challenge: {
    ...refused,
    wrong: 'the client needs PKCE with S256, and the request has no such `code_challenge`',
    fix: 'Switch PKCE with S256 on in the app',
  },
  grant_not_listed: {
    ...refused,
    wrong: 'the client does not list the grant',
    fix: 'Add the grant to `grant_types` of the client, or have the app use another one',
  },
  grant_not_supported: {
    ...refused,
    wrong: 'the grant or response type is switched off or unknown',
    fix: 'Have the app use `authorization_code`, `client_credentials` or `refresh_token`',
  },
  scope_not_allowed: {
    ...refused,
    wrong: 'the client may not request the scope',
    fix: 'Add it to `scope` of the client, or have the app leave it out',
  },
  audience_not_allowed: {
    ...refused,
    wrong: 'the client may not request the audience',
    fix: 'Add it to `audience` of the grant in the client, spelled as the app sends it',
  },
  malformed_request: {
    ...refused,
    wrong: 'a parameter is missing, repeated or malformed',
    fix: 'Have the app send what the sentence in `sent` says',
  },
  unknown_code: {
    ...refused,
    wrong: 'the code is unknown or was revoked',
    fix: 'Have the app send the code as it came, to the box that issued it; sign in again for a new one',
  },
  used_code: {
    ...refused,
    wrong: 'the code was used before',
    fix: 'Have the app redeem a code once: look for a page that is loaded twice, or a retry',
  },
  expired_code: {
    ...refused,
    wrong: 'the code has expired',
    fix: 'Have the app redeem the code at once; sign in again for a new one',
  },
  code_of_another_client: {
    ...refused,
    wrong: 'the code was issued to another client',
    fix: 'Use one `client_id` for the authorization request and the token request',
  },
  redirect_uri_differs: {
    ...refused,
    wrong: 'the `redirect_uri` is not that of the authorization request, or is no longer listed',
    fix: 'Send the same `redirect_uri` in both requests',
  },
  wrong_code_verifier: {
    ...refused,
    wrong: 'the `code_verifier` does not belong to the `code_challenge`, or one of them is missing',
    fix: 'Have the app keep the verifier until it redeems the code, in one browser and one process',
  },
  unknown_refresh_token: {
    ...refused,
    wrong: 'the refresh token is unknown, expired or revoked, or it is of another client',
    fix: 'Have the app sign in again; compare its `client_id` and the lifetimes of the client',
  },
  used_refresh_token: {
    ...refused,
    wrong: 'the refresh token was replaced by another, and all tokens of its sign-in were revoked',
    fix: 'Have the app store the refresh token of each response, and refresh in one place at a time',
  },
  refresh_not_permitted: {
    ...refused,
    wrong: 'the present settings of the client or box do not permit the refresh',
    fix: 'Set `refresh_token: true` in the grant of the client, list the grant, or sign in again',
  },
  token_of_another_client: {
    ...refused,
    wrong: 'the token to be revoked was issued to another client',
    fix: 'Revoke a token with the client that got it',
  },
  token_too_large: {
    ...refused,
    wrong: 'the token would not fit into the headers of a request',
    fix: 'Request fewer scopes, or put the user into fewer groups',
  },
  too_many_secrets: {
    event: 'client.throttled',
    result: 'denied',
    wrong: 'too many secrets or refresh tokens of this address were wrong',
    fix: 'Correct the secret in the app that fails, then wait a minute',
  },
  unknown_token: {
    ...badToken,
    wrong: 'the access token is unknown, expired or revoked, or it is of another box',
    fix: 'Get a new token from this box; an ID token is none',
  },
  token_for_another_audience: {
    ...badToken,
    wrong: 'the access token is for another audience than the app and the box',
    fix: 'Request the token with `audience` set to the name of the app',
  },
  token_without_openid: {
    ...badToken,
    wrong: 'the token is not of a person, for the scope `openid`',
    fix: 'Sign the person in with the scope `openid`',
  },
  no_policy: {
    ...denied,
    wrong: 'no access policy concerns the caller',
    fix: 'Link a policy to the client, the user or one of its groups; `boxctl can` tries it',
  },
  no_policy_grants: {
    ...denied,
    wrong: 'none of the policies that concern the caller grants this request',
    fix: 'Ask `boxctl can` with the same request: it says what each of them lacks',
  },
  token_without_boxgate: {
    ...denied,
    wrong: 'the token does not carry the rights of its user',
    fix: 'Request the token with the scope `boxgate`, or for the audience of the app',
  },
  unknown_user: {
    ...notSignedIn,
    wrong: 'the box has no user with this email',
    fix: 'Look for the email in `boxctl user list` of this box; each box has its own users',
  },
  inactive_user: {
    ...notSignedIn,
    wrong: 'the user is inactive',
    fix: 'Set the status of the user to active',
  },
  wrong_password: {
    ...notSignedIn,
    wrong: 'the password is wrong',
    fix: 'Give the user a new password',
  },
  too_many_passwords: {
    event: 'user.throttled',
    result: 'denied',
    wrong: 'too many passwords of this account or address were wrong',
    fix: 'Wait 15 minutes, or sign in from a browser that has signed in before',
  },
  origin_not_listed: {
    event: 'origin.refused',
    result: 'denied',
    wrong: 'neither the box nor an active client lists the origin: scripts there cannot read the response',
    fix: 'Add the origin to `allowed_origins` of the client or to `cors.allowed_origins` of the Box',
  },
} as const satisfies Readonly<Record<string, ReasonMeaning>>;

/** One of the names in {@link refusals}: in the log and the audit trail, never told to the caller. */
export type RefusalReason = keyof typeof refusals;

/** Checks whether a value is the name of a reason. */
export function isRefusalReason(value: unknown): value is RefusalReason {
  return typeof value === 'string' && Object.hasOwn(refusals, value);
}

/** Characters of what was sent that is repeated, in a record and to a developer. */
export const LONGEST_SENT = 300;

/** Reason of a refused request: for the log and the audit trail, never for the caller. */
export interface RefusalDetails {
  readonly reason: RefusalReason;
  /** The part of the request that the reason is about, or a sentence about it; no secret. */
  readonly sent?: string | undefined;
  /** The record that it is about: `<kind>/<id>`, only if it exists. */
  readonly target?: string | undefined;
  /** The sender, where it is known. */
  readonly by?: {
    readonly client?: string | undefined;
    readonly user?: number | undefined;
    readonly session?: string | undefined;
  };
}

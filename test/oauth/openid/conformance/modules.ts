/** Response types of a module's authorization request. */
export type LoginType = 'code' | 'id_token' | 'id_token token';

/** A module of the OpenID conformance suite whose checks need a person who signs in. */
export interface LoginModule {
  /** The response types that the suite runs it with. */
  readonly types: readonly LoginType[];
  /** Subject of its checks, in our words. */
  readonly checks: string;
  /** Reason why it does not apply; undefined: it applies. */
  readonly not?: string;
  /** True if it needs dynamic registration: the suite does not run it with static clients. */
  readonly isDynamic?: true;
}

const all = ['code', 'id_token', 'id_token token'] as const;
const code = ['code'] as const;
const withToken = ['code', 'id_token token'] as const;
const implicit = ['id_token', 'id_token token'] as const;

/**
 * The modules of the plans Basic and Implicit, in the order of the suite; those of Form Post are the same with
 * `form_post`.
 */
export const LOGIN_MODULES = {
  'oidcc-server': { types: all, checks: 'a person signs in; state, id_token and tokens are right' },
  'oidcc-response-type-missing': { types: withToken, checks: 'an error without `response_type`' },
  'oidcc-idtoken-signature': {
    types: all,
    checks: 'RS256 where nothing else is configured, by a published key',
    isDynamic: true,
  },
  'oidcc-idtoken-unsigned': {
    types: code,
    checks: 'an id_token without a signature',
    not: 'the metadata lists no algorithm `none`',
    isDynamic: true,
  },
  'oidcc-userinfo-get': { types: withToken, checks: 'claims by GET' },
  'oidcc-userinfo-post-header': { types: withToken, checks: 'claims by POST, token in the header' },
  'oidcc-userinfo-post-body': { types: withToken, checks: 'claims by POST, token in the form' },
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': { types: code, checks: 'a code needs no `nonce`' },
  'oidcc-ensure-request-without-nonce-fails': { types: implicit, checks: 'an id_token at once needs a `nonce`' },
  'oidcc-scope-profile': { types: all, checks: 'claims of `profile`, in the right place' },
  'oidcc-scope-email': { types: all, checks: 'claims of `email`' },
  'oidcc-scope-address': { types: all, checks: 'claims of `address`' },
  'oidcc-scope-phone': { types: all, checks: 'claims of `phone`' },
  'oidcc-scope-all': { types: all, checks: 'claims of all four' },
  'oidcc-alternate-happy-flow': { types: all, checks: 'scopes and parameters in another order' },
  'oidcc-display-page': { types: all, checks: '`display=page` is no error' },
  'oidcc-display-popup': { types: all, checks: '`display=popup` is no error' },
  'oidcc-prompt-login': { types: all, checks: 'signs in again, with a later `auth_time`' },
  'oidcc-prompt-none-not-logged-in': { types: all, checks: 'an error, and no page' },
  'oidcc-prompt-none-logged-in': { types: all, checks: 'an answer, and no page' },
  'oidcc-max-age-1': { types: all, checks: 'signs in again when the sign-in is too old, and says when' },
  'oidcc-max-age-10000': { types: all, checks: 'does not sign in again when it is young enough' },
  'oidcc-ensure-request-with-unknown-parameter-succeeds': { types: all, checks: 'what is not known is ignored' },
  'oidcc-id-token-hint': { types: all, checks: 'the same person, without a page' },
  'oidcc-login-hint': { types: all, checks: '`login_hint` is no error' },
  'oidcc-ui-locales': { types: all, checks: '`ui_locales` is no error' },
  'oidcc-claims-locales': { types: all, checks: '`claims_locales` is no error' },
  'oidcc-ensure-request-with-acr-values-succeeds': { types: all, checks: '`acr_values` is no error' },
  'oidcc-codereuse': { types: code, checks: 'a second use of a code is refused' },
  'oidcc-codereuse-30seconds': {
    types: code,
    checks: 'the same half a minute later; the tokens of the first are gone',
  },
  'oidcc-ensure-registered-redirect-uri': { types: all, checks: 'a page for an address that is not registered' },
  'oidcc-ensure-post-request-succeeds': { types: code, checks: 'the request by POST' },
  'oidcc-server-client-secret-post': { types: code, checks: 'the secret in the form' },
  'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported': {
    types: all,
    checks: '`request_uri` is refused as not supported',
    isDynamic: true,
  },
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': {
    types: all,
    checks: '`request` is refused as not supported',
  },
  'oidcc-claims-essential': {
    types: all,
    checks: 'a claim that `claims` names, at its place only',
  },
  'oidcc-ensure-request-object-with-redirect-uri': {
    types: all,
    checks: 'a page for an address that is not registered, whatever a request object says',
  },
  'oidcc-refresh-token': { types: code, checks: 'a refresh works, for this client only' },
  'oidcc-ensure-request-with-valid-pkce-succeeds': { types: code, checks: 'PKCE' },
} as const satisfies Record<string, LoginModule>;

/** The name of one of {@link LOGIN_MODULES}. */
export type LoginModuleName = keyof typeof LOGIN_MODULES;

/** The module of the plan Config, and those of RP-Initiated Logout, with what each checks. */
export const OTHER_MODULES = {
  Config: {
    'oidcc-discovery-endpoint-verification': 'the metadata have what the standards demand, and only addresses of https',
  },
  'RP-Initiated Logout': {
    'oidcc-rp-initiated-logout-discovery-endpoint-verification': '`end_session_endpoint` is listed',
    'oidcc-rp-initiated-logout': 'leads back with the `state`; the person is signed out',
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': 'leads to no address that is not registered, and says so',
    'oidcc-rp-initiated-logout-modified-id-token-hint': 'leads nowhere for an id_token of `alg: none`',
    'oidcc-rp-initiated-logout-no-id-token-hint': 'leads nowhere without an id_token, and says so',
    'oidcc-rp-initiated-logout-no-params': 'signs out, after a question',
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': 'signs out, and says so',
    'oidcc-rp-initiated-logout-no-state': 'leads back without a `state`',
    'oidcc-rp-initiated-logout-only-state': 'signs out, after a question',
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri':
      'leads to no address with a query added, and says so',
    'oidcc-rp-initiated-logout-bad-id-token-hint': 'leads nowhere for an id_token signed by another key',
  },
} as const;

/** The name of a module of RP-Initiated Logout. */
export type LogoutModuleName = keyof (typeof OTHER_MODULES)['RP-Initiated Logout'];

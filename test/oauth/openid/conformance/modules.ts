/** Response types of a module's authorization request. */
export type LoginType = 'code' | 'id_token' | 'id_token token';

/** A module of the OpenID conformance suite whose checks need a person who signs in. */
export interface LoginModule {
  /** The response types that the suite runs it with. */
  readonly types: readonly LoginType[];
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
  'oidcc-server': { types: all },
  'oidcc-response-type-missing': { types: withToken },
  'oidcc-idtoken-signature': {
    types: all,
    isDynamic: true,
  },
  'oidcc-idtoken-unsigned': {
    types: code,
    not: 'the metadata lists no algorithm `none`',
    isDynamic: true,
  },
  'oidcc-userinfo-get': { types: withToken },
  'oidcc-userinfo-post-header': { types: withToken },
  'oidcc-userinfo-post-body': { types: withToken },
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': { types: code },
  'oidcc-ensure-request-without-nonce-fails': { types: implicit },
  'oidcc-scope-profile': { types: all },
  'oidcc-scope-email': { types: all },
  'oidcc-scope-address': { types: all },
  'oidcc-scope-phone': { types: all },
  'oidcc-scope-all': { types: all },
  'oidcc-alternate-happy-flow': { types: all },
  'oidcc-display-page': { types: all },
  'oidcc-display-popup': { types: all },
  'oidcc-prompt-login': { types: all },
  'oidcc-prompt-none-not-logged-in': { types: all },
  'oidcc-prompt-none-logged-in': { types: all },
  'oidcc-max-age-1': { types: all },
  'oidcc-max-age-10000': { types: all },
  'oidcc-ensure-request-with-unknown-parameter-succeeds': { types: all },
  'oidcc-id-token-hint': { types: all },
  'oidcc-login-hint': { types: all },
  'oidcc-ui-locales': { types: all },
  'oidcc-claims-locales': { types: all },
  'oidcc-ensure-request-with-acr-values-succeeds': { types: all },
  'oidcc-codereuse': { types: code },
  'oidcc-codereuse-30seconds': {
    types: code,
  },
  'oidcc-ensure-registered-redirect-uri': { types: all },
  'oidcc-ensure-post-request-succeeds': { types: code },
  'oidcc-server-client-secret-post': { types: code },
  'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported': {
    types: all,
    isDynamic: true,
  },
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': {
    types: all,
  },
  'oidcc-claims-essential': {
    types: all,
  },
  'oidcc-ensure-request-object-with-redirect-uri': {
    types: all,
  },
  'oidcc-refresh-token': { types: code },
  'oidcc-ensure-request-with-valid-pkce-succeeds': { types: code },
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

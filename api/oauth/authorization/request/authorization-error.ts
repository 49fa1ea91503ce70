/** Error codes at a redirect URI, instead of a code or token (RFC 6749 §4.1.2.1, OpenID Connect §3.1.2.6). */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported';

/** Refusal of an authorization request whose redirect URI is known to be the client's. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly code: AuthorizationErrorCode;

  constructor(code: AuthorizationErrorCode, description: string) {
    super(description);
    this.code = code;
  }
}

import type { RefusalDetails, RefusalReason } from '../schemas/refusals.ts';
import { Refusal } from '../box/state-cache.ts';

/** The error codes of the OAuth endpoints, and their HTTP status (RFC 6749 §5.2, RFC 8707 §2, RFC 6585 §4). */
export const oauthStatus = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  slow_down: 429,
} as const satisfies Record<string, number>;

/** One of the codes of {@link oauthStatus}, or one that only a redirect to a client has (RFC 6749 §4.1.2.1). */
export type OAuthErrorCode =
  | keyof typeof oauthStatus
  | 'access_denied'
  | 'unsupported_response_type'
  | 'request_not_supported'
  | 'request_uri_not_supported';

const statuses: Partial<Record<OAuthErrorCode, number>> = oauthStatus;

interface OAuthErrorOptions {
  readonly status?: number;
  readonly retryAfter?: number;
  readonly client?: string | undefined;
  readonly reason?: RefusalReason | undefined;
  readonly sent?: string | undefined;
}

/** Reasons of errors that name none: what the caller is told says the rest. */
const usualReasons: Partial<Record<OAuthErrorCode, RefusalReason>> = {
  invalid_request: 'malformed_request',
  invalid_client: 'malformed_credentials',
  unauthorized_client: 'grant_not_listed',
  unsupported_grant_type: 'grant_not_supported',
  unsupported_response_type: 'grant_not_supported',
  request_not_supported: 'malformed_request',
  request_uri_not_supported: 'malformed_request',
  invalid_scope: 'scope_not_allowed',
  invalid_target: 'audience_not_allowed',
};

/** Error of an OAuth endpoint: `error` and `error_description` of RFC 6749 §5.2. Never holds a secret. */
export class OAuthError extends Refusal {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;
  /** The declared client that it is about; for the audit trail, never for the caller. */
  client: string | undefined;
  /** The reason; undefined for an error that is recorded elsewhere. Never for the caller. */
  readonly reason: RefusalReason | undefined;
  /** The part of the request that the reason is about, or the description. */
  readonly #sent: string | undefined;

  /** Uses the status of the code unless `status` is given. */
  constructor(
    code: OAuthErrorCode,
    description: string,
    { status = statuses[code] ?? 400, retryAfter, client, reason, sent }: OAuthErrorOptions = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    this.client = client;
    this.reason = reason ?? usualReasons[code];
    this.#sent = sent ?? (reason === undefined ? description : undefined);
  }

  /** Returns why the request was refused, for the log and the audit trail; undefined if that is recorded elsewhere. */
  get details(): RefusalDetails | undefined {
    const { reason, client } = this;
    return reason && { reason, sent: this.#sent, target: client === undefined ? undefined : `Client/${client}` };
  }
}

/**
 * Makes the same error for an unknown client, a wrong or missing secret, keys that do not match and an inactive client,
 * so that nobody learns which (RFC 6749 §5.2). `client` is the declared client, for the audit trail; `reason` is for
 * the log.
 */
export function notAuthenticated(reason: RefusalReason, client?: string): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication failed', { client, reason });
}

import type { RefusalReason } from '../refusal-reason.ts';
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
}

/** Error of an OAuth endpoint: `error` and `error_description` of RFC 6749 §5.2. Never holds a secret. */
export class OAuthError extends Refusal {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;
  /** The declared client that did not prove its identity; for the audit trail, never for the caller. */
  readonly client: string | undefined;
  /** The reason, where the code does not tell it: for the log, never for the caller. */
  readonly reason: RefusalReason | undefined;

  /** Uses the status of the code unless `status` is given. */
  constructor(
    code: OAuthErrorCode,
    description: string,
    { status = statuses[code] ?? 400, retryAfter, client, reason }: OAuthErrorOptions = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    this.client = client;
    this.reason = reason;
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

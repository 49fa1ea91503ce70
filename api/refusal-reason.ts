/** Reasons of refusals, where the error code does not tell, with their meaning for docs/reference/refusals.md. */
export const refusalReasons = {
  unknown_client: 'the box has no client with this ID',
  inactive_client: 'the client is inactive, or its box',
  no_secret: 'a client that can authenticate sent no proof',
  wrong_secret: 'the secret is none of the client',
  retired_secret: 'the secret was replaced, and the time of the previous one is over',
  wrong_assertion: 'the client assertion or the token of a ServiceAccount does not prove the client',
  redirect_uri_not_listed: 'the client lists another `redirect_uri`, or none',
  origin_not_listed: 'neither the box nor an active client lists the origin: scripts there cannot read the response',
  unknown_code: 'the code is unknown, used or expired, or it is of another client',
  unknown_refresh_token: 'the refresh token is unknown, used or expired, or it is of another client',
  wrong_password: 'no active user has this email and password',
  token_too_large: 'the token would not fit into the headers of a request',
} as const satisfies Record<string, string>;

/** One of the names in {@link refusalReasons}: in the log line of its request, never told to the caller. */
export type RefusalReason = keyof typeof refusalReasons;

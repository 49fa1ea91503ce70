/**
 * Kinds of a failed call to the management port: `fenced`, a later epoch has been claimed, so stop; `unavailable`, the
 * API or Postgres is unreachable or too slow, so try again later; `locked`, the box is bound to another namespace, so
 * an admin must decide; `unknown-database`, the API has no database of that name; `data-missing`, the database of the
 * box was restored from a backup, and an admin must accept that; `refused`, the API does not accept this call.
 */
export type ManagementErrorCode = 'fenced' | 'unavailable' | 'locked' | 'unknown-database' | 'data-missing' | 'refused';

/** Error of a call to the management port; none of the call was applied, unless only the answer was lost. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  readonly code: ManagementErrorCode;
  /** For `locked`: the uid of the namespace that the box is bound to. */
  readonly bound: string | undefined;

  constructor(code: ManagementErrorCode, message: string, options?: ErrorOptions & { readonly bound?: string }) {
    super(message, options);
    this.code = code;
    this.bound = options?.bound;
  }
}

/** Creates the error for a body `{error, code}` with this status. */
export function refusal(status: number, body: unknown): ManagementError {
  const { error, code, bound } = fieldsOf(body);
  const text = error ?? `status ${String(status)}`;
  if (code === 'fenced' || code === 'unknown-database' || code === 'data-missing')
    return new ManagementError(code, text);
  if (code === 'locked') return new ManagementError('locked', text, bound === undefined ? {} : { bound });
  if (code === 'unavailable' || busyStatus.has(status)) return new ManagementError('unavailable', text);
  return new ManagementError('refused', status === 401 ? `the management key is not accepted: ${text}` : text);
}

/** Too many requests, bad gateway, unavailable, gateway timeout: from the API or from a proxy before it. */
const busyStatus: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function fieldsOf(body: unknown): { error?: string; code?: string; bound?: string } {
  if (typeof body !== 'object' || body === null) return {};
  return {
    ...('error' in body && typeof body.error === 'string' ? { error: body.error } : {}),
    ...('code' in body && typeof body.code === 'string' ? { code: body.code } : {}),
    ...('bound' in body && typeof body.bound === 'string' ? { bound: body.bound } : {}),
  };
}

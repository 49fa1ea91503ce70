import { OAuthError } from '../../api/oauth/oauth-error.ts';

/** The code of the OAuth error that a piece of work throws, undefined when it throws none. */
export function refusalOf(work: () => unknown): string | undefined {
  return errorOf(work)?.code;
}

/** The OAuth error that a piece of work throws, undefined when it throws none. */
export function errorOf(work: () => unknown): OAuthError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
}

import type { Parameters } from '../../token/parameters.ts';
import { OAuthError } from '../../oauth-error.ts';

/** Demands of a request on the pages that its user sees (OpenID Connect Core §3.1.2.1). */
export interface Prompt {
  /** Show no page at all: an error instead of one. */
  readonly none: boolean;
  /** Sign in again, even if a user is signed in. */
  readonly login: boolean;
  /** Ask for consent again. */
  readonly consent: boolean;
  /** Age in seconds beyond which a sign-in is too old for this request; undefined: no limit. */
  readonly maxAge: number | undefined;
}

/** The values that `prompt` can have. */
export const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];

/** Reads `prompt` and `max_age`. Throws OAuthError `invalid_request`. */
export function readPrompt(parameters: Parameters): Prompt {
  const values = new Set(parameters.get('prompt')?.split(' ') ?? []);
  if ([...values].some((value) => !PROMPTS.includes(value)) || (values.has('none') && values.size > 1)) {
    throw new OAuthError('invalid_request', 'prompt must be none, or some of login, consent and select_account');
  }
  const maxAge = parameters.get('max_age');
  if (maxAge !== undefined && !/^\d+$/.test(maxAge)) {
    throw new OAuthError('invalid_request', 'max_age must be a whole number of seconds, such as 3600');
  }
  return {
    none: values.has('none'),
    login: values.has('login') || values.has('select_account'),
    consent: values.has('consent'),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

/** Checks whether a request demands a new sign-in although there is one from that time (milliseconds). */
export function demandsSignIn(prompt: Prompt, createdAt: number, now: number): boolean {
  return prompt.login || isTooOld(prompt, createdAt, now);
}

/** Checks whether a sign-in of that time (milliseconds) is too long ago for a request. */
export function isTooOld({ maxAge }: Prompt, createdAt: number, now: number): boolean {
  return maxAge !== undefined && now - createdAt > maxAge * 1000;
}

/**
 * Returns the same request after its user signed in: the demands of `prompt` and `max_age` are met, and the id_token
 * tells the client when. `query` without its question mark.
 */
export function afterSignIn(query: string): string {
  const parameters = new URLSearchParams(query);
  const rest = (parameters.get('prompt') ?? '').split(' ').filter((one) => one !== 'login' && one !== 'select_account');
  if (!parameters.has('prompt') && !parameters.has('max_age')) return query;
  parameters.delete('max_age');
  if (rest.join('') === '') parameters.delete('prompt');
  else parameters.set('prompt', rest.join(' '));
  return parameters.toString();
}

import { PASSWORD_BYTES } from './secret-text.ts';

/** Most groups of a user: a token and a request header have room for their names. */
export const MOST_GROUPS_OF_USER = 100;

/**
 * Sentences about a user or group that the API refuses, by a name. The admin UI says the same in the language of the
 * person at the screen.
 */
export const refusalTexts = {
  taken: 'is taken: another user has it',
  'no-email': 'must be an email, such as ann@example.com',
  'too-long': `must have at most ${String(PASSWORD_BYTES)} bytes; a letter beyond ASCII takes two to four`,
  'stored-form':
    'is the stored form of a password, such as $2b$, {SSHA} or pbkdf2_sha256$: send the password itself, or leave it out to keep the present one',
  'most-used': 'is one of the most used passwords, which are guessed first: choose another one',
  'wrong-password': 'is not the password of this user',
  'too-many-groups': `must name at most ${String(MOST_GROUPS_OF_USER)} groups: a user is in no more`,
  'group-taken': 'is taken: another group of this box has it',
} as const;

/** Name of a sentence of {@link refusalTexts}. */
export type RefusalName = keyof typeof refusalTexts;

/** Checks whether a text is meant as an email: it has an @, or the full-width one of a Japanese keyboard. */
export function looksLikeEmail(text: string): boolean {
  return /[@＠]/.test(text);
}

/** Returns the sentence about a password that has too few characters. */
export function tooShortText(least: number): string {
  return `must have at least ${String(least)} characters`;
}

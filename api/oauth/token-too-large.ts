import { OAuthError } from './oauth-error.ts';

/** A token that is not issued: every request that presents it would be refused (RFC 6749 §5.2, `invalid_scope`). */
export class TokenTooLarge extends OAuthError {
  /** `most` in characters. */
  constructor(most: number) {
    const remedy = 'Request fewer scopes, such as without groups, or take the user out of some groups';
    super('invalid_scope', `The token would have more than ${String(most)} characters. ${remedy}`);
  }
}

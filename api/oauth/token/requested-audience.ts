import { ONE_LINE } from '../../../crds/fields.ts';
import type { TokenSubject } from '../../state/requestable-scopes.ts';
import { OAuthError } from '../oauth-error.ts';

/** The settings and the subject that decide which audiences a token may be for. */
export interface AudienceRules {
  /** Settings of the grant. */
  readonly settings: { readonly audience?: readonly string[] };
  readonly issuer: string;
  readonly subject: TokenSubject;
}

/** Returns the audiences that a token may be for: without a list any for a client, only the issuer for a user. */
export function listedAudiences({ settings, issuer, subject }: AudienceRules): readonly string[] | undefined {
  if (settings.audience !== undefined) return settings.audience;
  return subject === 'client' ? undefined : [issuer];
}

const longestAudience = 1024;
const oneLine = new RegExp(ONE_LINE);

/** Returns the audience of a request; null: the issuer, by default. Throws OAuthError `invalid_target` (RFC 8707 §2). */
export function requestedAudience(rules: AudienceRules, asked: string | undefined): readonly string[] | null {
  const { settings } = rules;
  if (asked === undefined) return settings.audience?.[0] === undefined ? null : [settings.audience[0]];
  if (asked.length > longestAudience || !oneLine.test(asked)) {
    throw new OAuthError(
      'invalid_target',
      `The audience must be one line of at most ${String(longestAudience)} characters`,
    );
  }
  const listed = listedAudiences(rules);
  if (listed?.includes(asked) === false) {
    throw new OAuthError('invalid_target', 'The client may not ask for this audience');
  }
  return settings.audience === undefined && listed !== undefined ? null : [asked];
}

/**
 * Returns the audience that was granted, as a request for it. A grant without an audience is for the issuer, and never
 * gets the default of a client that has begun to list audiences. Throws OAuthError `invalid_target` for another one.
 */
export function boundAudience(
  rules: AudienceRules,
  asked: string | undefined,
  granted: readonly string[] | null,
): string | undefined {
  const { issuer } = rules;
  const [audience] = granted ?? [];
  if (asked !== undefined && asked !== (audience ?? issuer)) {
    throw new OAuthError('invalid_target', 'The audience is not the one that was granted');
  }
  return audience ?? (listedAudiences(rules) === undefined ? asked : issuer);
}

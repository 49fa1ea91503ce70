import type { Box } from '../../../crds/box.ts';
import { ONE_LINE } from '../../../crds/fields.ts';
import type { TokenSubject } from '../../box/scopes.ts';
import { OAuthError } from '../oauth-error.ts';

/** The settings and the subject that decide which audiences a token may be for. */
export interface AudienceRules {
  /** Settings of the grant. */
  readonly settings: AudienceSettings;
  readonly box: Box;
  readonly issuer: string;
  readonly subject: TokenSubject;
}

interface AudienceSettings {
  readonly audience?: readonly string[];
}

/**
 * Returns the audiences that a token may be for; undefined: any. Without a list, a token is for the issuer, unless it
 * is the token of a client in a box without `tokens.require_listed_audience`.
 */
export function listedAudiences(
  settings: AudienceSettings | undefined,
  box: Box,
  issuer: string,
  subject: TokenSubject,
): readonly string[] | undefined {
  if (settings?.audience !== undefined) return settings.audience;
  return subject === 'client' && box.tokens?.require_listed_audience !== true ? undefined : [issuer];
}

const longestAudience = 1024;
const oneLine = new RegExp(ONE_LINE);

/**
 * Returns the audience of a request; null: the issuer, by default. Throws OAuthError `invalid_target` (RFC 8707 §2).
 */
export function requestedAudience(rules: AudienceRules, requested: string | undefined): readonly string[] | null {
  const { settings, box, issuer, subject } = rules;
  if (requested === undefined) return settings.audience?.[0] === undefined ? null : [settings.audience[0]];
  if (requested.length > longestAudience || !oneLine.test(requested)) {
    throw new OAuthError(
      'invalid_target',
      `The audience must be one line of at most ${String(longestAudience)} characters`,
    );
  }
  const listed = listedAudiences(settings, box, issuer, subject);
  if (listed?.includes(requested) === false) {
    throw new OAuthError('invalid_target', 'This audience is not allowed: add it to `audience` of the client');
  }
  return settings.audience === undefined && listed !== undefined ? null : [requested];
}

/**
 * Returns the audience that was granted, as a request for it. A grant without an audience is for the issuer, and never
 * gets the default of a client that has begun to list audiences. Throws OAuthError `invalid_target` for another one.
 */
export function boundAudience(
  rules: AudienceRules,
  requested: string | undefined,
  granted: readonly string[] | null,
): string | undefined {
  const { settings, box, issuer, subject } = rules;
  const [audience] = granted ?? [];
  if (requested !== undefined && requested !== (audience ?? issuer)) {
    throw new OAuthError('invalid_target', 'The audience is not the one that was granted');
  }
  return audience ?? (listedAudiences(settings, box, issuer, subject) === undefined ? requested : issuer);
}

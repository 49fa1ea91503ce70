import { URI_TEXT, ONE_LINE } from '../../../crds/fields.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Parameters } from './parameters.ts';
import type { Scopes, TokenSubject } from '../../box/scopes.ts';
import { scopesOf, scopeText, scopeWithin, withoutClaims } from '../scope-text.ts';
import type { Box } from '../../../crds/box.ts';

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
    throw new OAuthError('invalid_target', 'This audience is not allowed: add it to `audience` of the client', {
      sent: `audience ${requested}`,
    });
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
    throw new OAuthError('invalid_target', 'The audience is not the one that was granted', {
      sent: `audience ${requested}, not the one that was granted`,
    });
  }
  return audience ?? (listedAudiences(settings, box, issuer, subject) === undefined ? requested : issuer);
}

const longestScope = 4096;
const scopeShape = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * Returns the scope of a request (RFC 6749 §3.3), null if nothing is left of it. Ignores scopes that are not `known`
 * (OpenID Connect Core §3.1.2.1); with `known` undefined, every scope is known. Throws OAuthError `invalid_scope`
 * for a malformed text, and for a known scope that is not allowed (§5.2).
 */
export function requestedScope(requested: string, allowed: Scopes, known: Scopes | undefined): string | null {
  if (requested.length > longestScope || !scopeShape.test(requested)) {
    throw new OAuthError(
      'invalid_scope',
      `scope is malformed: send at most ${String(longestScope)} characters, scopes of visible ASCII with one space between them`,
    );
  }
  const scopes = [...new Set(scopesOf(requested))];
  if (scopes.every((scope) => allowed.has(scope))) return scopes.join(' ');
  const refused = scopes.find((scope) => !allowed.has(scope) && (known === undefined || known.has(scope)));
  if (refused !== undefined) throw new OAuthError('invalid_scope', refusal(refused));
  return scopeText(scopes.filter((scope) => allowed.has(scope)));
}

/**
 * Returns the granted scope without what is no longer allowed. Throws OAuthError `invalid_scope` if nothing is left.
 */
export function scopeLeft(granted: string | null, allowed: Scopes): string | null {
  const left = scopeWithin(granted, allowed);
  if (left !== undefined) return left;
  throw new OAuthError('invalid_scope', 'The client may request none of the granted scopes any more');
}

/**
 * Returns the member `scope` of a token response (RFC 6749 §5.1): whenever the token has one, because libraries take a
 * missing one for no scope. Empty if nothing was granted of what was requested; otherwise undefined (left out).
 */
export function scopeMember(granted: string | null, requested: string | undefined): string | undefined {
  return withoutClaims(granted) ?? (requested === undefined ? undefined : '');
}

/** Returns the parameter `scope` of a token in an address (§4.2.2): only if it differs from the requested scope. */
export function scopeParameter(granted: string | null, requested: string | undefined): string | undefined {
  const member = scopeMember(granted, requested);
  return member === requested ? undefined : member;
}

function refusal(scope: string): string {
  const name = scope.length > longestShown ? `${scope.slice(0, longestShown)}...` : scope;
  return `scope has ${name}, which this request may not have: leave it out, or list it in the client`;
}

const longestShown = 128;

/** The optional parameters of a token request that shape its token. */
export interface RequestedAccess {
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** Reads the requested audience and scope. Throws OAuthError `invalid_target` for a malformed `resource`. */
export function requestedAccess(parameters: Parameters): RequestedAccess {
  return { audience: requestedTarget(parameters), scope: parameters.get('scope') };
}

/** Reads the audience. RFC 8707 §2 names it `resource`, which must be an absolute URI. */
function requestedTarget(parameters: Parameters): string | undefined {
  const audience = parameters.get('audience');
  const resource = parameters.get('resource');
  if (resource === undefined) return audience;
  if (!isAbsoluteUri(resource)) {
    throw new OAuthError('invalid_target', 'resource must be an absolute URI without a fragment (RFC 8707 section 2)');
  }
  if (audience !== undefined && audience !== resource) {
    throw new OAuthError('invalid_target', 'resource and audience name two targets: a token is for one');
  }
  return resource;
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$/;
const characters = new RegExp(URI_TEXT);

/** Checks for the form of RFC 3986 §4.3: a scheme, something after it, no fragment. */
function isAbsoluteUri(text: string): boolean {
  return scheme.test(text) && characters.test(text);
}

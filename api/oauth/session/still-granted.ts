import type { Box } from '../../../crds/box.ts';
import type { Client, GrantType } from '../../../crds/client.ts';
import { allows } from '../../../crds/compatibility.ts';
import { GRANT_NAMES } from '../../db/session/record.ts';
import type { FirstGrant } from '../../db/session/record.ts';
import type { ClientState, BoxState } from '../../box/box-state.ts';
import type { TokenSubject } from '../../box/scopes.ts';
import { scopeWithin, hasScope } from '../scope-text.ts';
import type { Granted, GrantSettings } from '../token/plan.ts';
import { listedAudiences } from '../token/requested-access.ts';
import { BOXGATE_SCOPE } from '../../box/scopes.ts';

/** The scope and audience that a token was issued with, and the grant that it came from. */
export type IssuedGrant = Granted & { readonly grant: FirstGrant };

/**
 * Reduces the scope and audience of a token to what its client may still request (pure). Returns undefined when the
 * client may no longer use the grant, or when nothing is left of the scope or of the audience.
 */
export function stillGranted(
  issued: IssuedGrant,
  { client, scopes }: Pick<ClientState, 'client' | 'scopes'>,
  box: Box,
  issuer: string,
): Granted | undefined {
  if (!mayUseGrant(issued.grant, client, box)) return undefined;
  const subject = subjectOfGrant(issued.grant);
  const listed = listedAudiences(settingsOf(issued.grant, client), box, issuer, subject);
  const audience = stillListed(issued.audience, listed, issuer);
  const scope = scopeWithin(issued.scope, scopes[subject]);
  return audience === undefined || scope === undefined ? undefined : { audience, scope };
}

/** Checks whether a client lists a grant and its box has not switched it off (docs/reference/tokens.md). */
export function mayUseGrant(grant: FirstGrant, { grant_types }: Client, box: Box): boolean {
  if (!grant_types.includes(GRANT_NAMES[grant])) return false;
  if (grant === 'i') return allows(box, 'implicit');
  return grant !== 'p' || allows(box, 'password_grant');
}

/** Returns the subject of the tokens that come from a grant. */
export function subjectOfGrant(grant: FirstGrant): TokenSubject {
  return subjects[grant];
}

const subjects = {
  a: 'user',
  c: 'client',
  i: 'user',
  p: 'user-by-password',
} as const satisfies Record<FirstGrant, TokenSubject>;

function settingsOf(grant: FirstGrant, { auth }: Client): GrantSettings | undefined {
  const settings: Partial<Record<GrantType, GrantSettings | undefined>> = auth ?? {};
  return settings[GRANT_NAMES[grant]];
}

/** Returns the audience that is still listed; a token without one is for the issuer. Undefined: nothing is left. */
function stillListed(
  audience: Granted['audience'],
  listed: readonly string[] | undefined,
  issuer: string,
): Granted['audience'] | undefined {
  if (listed === undefined) return audience;
  if (audience === null) return listed.includes(issuer) ? null : undefined;
  const left = audience.filter((one) => listed.includes(one));
  return left.length === 0 ? undefined : left;
}

/**
 * Checks whether a box, or a client of it, has revoked something issued under a version of the box, at a time in
 * milliseconds since 1970. Called for every check of a token: it allocates nothing.
 */
export function isRevoked(
  version: number,
  createdAt: number,
  { sessionsFrom, revokedBefore = 0 }: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
): boolean {
  return version < sessionsFrom || createdAt < revokedBefore;
}

/** Part of a token's grant that its user's rights depend on. */
export interface GrantedToken {
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
}

/**
 * Checks whether a user's token carries the rights of its user on the box's own endpoints: it has the scope `boxgate`
 * and is for the issuer of the box, whatever `compatibility.foreign_audience` accepts.
 */
export function carriesUserRights({ scope, audience }: GrantedToken, issuer: string): boolean {
  const isForBox = audience === null || audience.length === 0 || audience.includes(issuer);
  return isForBox && hasScope(scope, BOXGATE_SCOPE);
}

import { BOXGATE_SCOPE } from '../../box/scopes.ts';
import { hasScope } from '../scope-text.ts';

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

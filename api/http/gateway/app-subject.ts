import type { Person } from '../../db/user/person.ts';
import { carriesUserRights } from '../../oauth/session/user-rights.ts';
import type { GrantedToken } from '../../oauth/session/user-rights.ts';
import type { Subject } from '../../policy/policy-index.ts';
import { subjectWith } from '../access/session-parts.ts';

/** Token at an app, with what it stands for; the client is undefined only in a question to `$explain`. */
export interface AppToken extends GrantedToken {
  readonly client: string | undefined;
  readonly user: Person | null;
}

/**
 * Returns the subject of a token at an app; undefined if the token is neither for the app nor for the box (RFC 9068
 * §4). The token of a user that is for the box needs the scope `boxgate` to carry the rights of the user.
 */
export function appSubject(token: AppToken, app: string, issuer: string): Subject | undefined {
  const { client, user } = token;
  if (isForApp(token, app, issuer)) return subjectWith(client, user, true);
  if (!isForBox(token, issuer)) return undefined;
  return subjectWith(client, user, user === null || carriesUserRights(token, issuer));
}

/** Checks whether a token is for the app. On the host of the issuer, `https://` and the host is the box instead. */
function isForApp({ audience }: GrantedToken, app: string, issuer: string): boolean {
  const address = `https://${app}`;
  return audience !== null && (audience.includes(app) || (address !== issuer && audience.includes(address)));
}

function isForBox({ audience }: GrantedToken, issuer: string): boolean {
  return audience === null || audience.length === 0 || audience.includes(issuer);
}

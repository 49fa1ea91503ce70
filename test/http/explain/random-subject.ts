import type { Random } from '../../support/random.ts';
import type { People } from './known-names.ts';

/** A token, as it is stored for the real request and as the question describes it. */
export interface MadeSubject {
  /** Undefined: no token. */
  readonly client: 'orders' | 'web' | undefined;
  readonly user: number | undefined;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
}

/**
 * Makes nobody, a client, or a user with a client; with the scope `boxgate` or without it, for this or another
 * audience.
 */
export function randomSubject(random: Random, { users, issuer }: People): MadeSubject {
  const other = 'https://files.example';
  const audience = random.pick([null, null, null, [issuer], [other], [issuer, other]]);
  switch (random.pick(['nobody', 'client', 'client', 'user', 'user', 'user', 'user'] as const)) {
    case 'nobody':
      return { client: undefined, user: undefined, scope: null, audience: null };
    case 'client':
      return { client: 'orders', user: undefined, scope: random.pick([null, 'read', 'read write']), audience };
    case 'user': {
      const scope = random.pick(['boxgate', 'boxgate', 'boxgate', 'openid boxgate', 'openid', 'boxgate.all', null]);
      return { client: 'web', user: random.pick(users), scope, audience };
    }
  }
}

/**
 * Returns the `subject` of a question, in one of the forms that it may have; `session` is the ID of the token's
 * session.
 */
export function questionSubject(random: Random, made: MadeSubject, session: string | undefined): object | undefined {
  const { client, user, scope, audience } = made;
  if (client === undefined) return random.below(2) === 0 ? undefined : {};
  const isClaim = random.below(2) === 0;
  const byDefault = user === undefined ? null : 'boxgate';
  const isLeftOut = scope === byDefault && random.below(2) === 0;
  const [onlyAudience, ...more] = audience ?? [];
  const hasManyAudiences = more.length > 0 || isClaim;
  const claims = {
    ...(!isLeftOut && scope !== null && isClaim && { scope }),
    ...(audience !== null && hasManyAudiences && { aud: audience }),
  };
  return {
    client,
    ...(user !== undefined && { user }),
    ...(!isLeftOut && (scope === null || !isClaim) && { scope }),
    ...(audience !== null && !hasManyAudiences && { audience: onlyAudience }),
    ...(Object.keys(claims).length > 0 && { token: claims }),
    ...(session !== undefined && { session: { id: session } }),
  };
}

import type { StoredUser } from '../../db/user/user.ts';
import type { Sharer } from '../../shares/places.ts';
import type { ApiContext } from '../server/api-context.ts';
import { throttlePassword } from './throttle-password.ts';
import type { Guess } from './throttle-password.ts';

/** A guess at a password over REST, and the ID of the user whose token it has. */
export interface RestGuess extends Pick<Guess, 'box' | 'address' | 'requestId'> {
  readonly by: number | undefined;
}

/** Verifies a password. The user's own token is a proof: strangers cannot keep users from changing their password. */
export async function guessOverRest(
  context: Pick<ApiContext, 'passwordLimits'>,
  { box, address, requestId, by }: RestGuess,
  user: StoredUser,
  verify: (sharer: Sharer) => Promise<boolean>,
): Promise<boolean> {
  const proof = by === user.id ? ({ id }: StoredUser): string => `user:${String(id)}` : undefined;
  const right = await throttlePassword(
    context.passwordLimits,
    { box, email: user.email, address, requestId, proof },
    async (admit) => {
      const sharer = await admit({ user });
      return (await verify(sharer)) ? true : undefined;
    },
  );
  return right === true;
}

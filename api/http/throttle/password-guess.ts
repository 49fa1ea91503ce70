import { createFailureSlot } from '../../credentials/key-sealing.ts';
import type { FailureSlot } from '../../credentials/key-sealing.ts';
import type { Connections } from '../../db/core/pool.ts';
import { inBox } from '../../db/core/transaction.ts';
import { storeNetwork } from '../../db/user-write.ts';
import type { SignInNetworks, StoredUser } from '../../db/user.ts';
import { networkOf } from '../../ip-address.ts';
import { Problem } from '../../problem.ts';
import type { RefusalDetails, RefusalReason } from '../../schemas/refusals.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import { emailKey } from '../../users/email.ts';
import type { AdmitGuess, GuessedAccount } from '../../users/sign-in/verify-password.ts';
import { createSharedFailures } from './failures-of-all-replicas.ts';
import type { SharedFailures, SharedLimit } from './failures-of-all-replicas.ts';
import { hashSharer } from './hash-sharer.ts';
import { beginAttempt, endAll } from './throttle.ts';
import type { Attempt, Throttle } from './throttle.ts';

/** The limits on guesses at passwords: of this replica, and of all of them together. */
export interface PasswordLimits {
  readonly throttle: Pick<Throttle, 'passwords' | 'proven' | 'addresses'>;
  /** Counted in periods of 15 minutes. */
  readonly shared: SharedFailures;
  readonly slot: FailureSlot;
  readonly networks: KnownNetworks;
  /** Failures in 15 minutes of one account from all addresses, and of one proof. */
  readonly perAccount: number;
}

/** Dependencies of {@link createPasswordLimits}. */
export interface PasswordLimitsOptions {
  readonly throttle: Throttle;
  readonly pool: Connections;
  /** The newest key of the installation. */
  readonly key: Buffer;
  readonly perAccount: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Creates the limits on guesses at passwords. */
export function createPasswordLimits(options: PasswordLimitsOptions): PasswordLimits {
  const { throttle, pool, key, perAccount, now } = options;
  const networks = createKnownNetworks(pool, now);
  const shared = createSharedFailures(pool, 15 * 60_000, now);
  return { throttle, shared, slot: createFailureSlot(key), networks, perAccount };
}

/** The account whose password is guessed, and the origin of the guess. */
export interface Guess {
  readonly box: string;
  /** The email as typed: all spellings of one account are counted together. */
  readonly email: string;
  readonly address: string;
  /** Called with the reason if the guess fails or is refused; the target is the account, if it exists. */
  readonly onRefused: (details: RefusalDetails) => void;
  /**
   * Returns the ID of a proof that the guess comes from the owner of an account, such as a browser that has signed in
   * before; undefined if there is none. Omitted if there is no proof to check.
   */
  readonly proof?: ((user: StoredUser) => string | undefined) | undefined;
}

/**
 * Verifies a password within the limits on failures, which apply to every endpoint that verifies one. Without a proof
 * they are those of the address and its network, and that of the account unless the network signed in to it lately.
 * With a proof they are its own, which strangers cannot use up. The limits do not reveal whether an account exists.
 * Undefined is a failure. A success at a sign-in stores the network. Throws Problem `throttled`, Outage, and any error
 * of `verify`.
 */
export async function throttlePassword<T>(
  limits: PasswordLimits,
  guess: Guess,
  verify: (admit: AdmitGuess) => Promise<T | undefined>,
): Promise<T | undefined> {
  let account: GuessedAccount | undefined;
  const refuse = (reason: RefusalReason): void => {
    guess.onRefused({ reason, target: account && `User/${String(account.user.id)}` });
  };
  try {
    const verified = await guessWithinLimits(limits, guess, (admit) =>
      verify((found) => {
        account = found;
        return admit(found);
      }),
    );
    if (verified === undefined)
      refuse(
        account === undefined
          ? 'unknown_user'
          : account.user.status === 'inactive'
            ? 'inactive_user'
            : 'wrong_password',
      );
    else if (account !== undefined) await limits.networks.add(guess.box, account, guess.address);
    return verified;
  } catch (error) {
    if (error instanceof Problem && error.code === 'throttled') refuse('too_many_passwords');
    throw error;
  }
}

async function guessWithinLimits<T>(
  limits: PasswordLimits,
  guess: Guess,
  verify: (admit: AdmitGuess) => Promise<T | undefined>,
): Promise<T | undefined> {
  const attempts: Attempt[] = [];
  // Before the account is read: an address that has failed too often costs no statement.
  if (guess.proof === undefined) attempts.push(beginAtAddress(limits, guess));
  try {
    const verified = await verify(async (account) => {
      const proven = account && guess.proof?.(account.user);
      if (proven !== undefined) attempts.push(beginAttempt(limits.throttle.proven, [guess.box, proven, '']));
      else if (guess.proof !== undefined) attempts.push(beginAtAddress(limits, guess));
      attempts.push(await limits.shared.begin(guess.box, sharedLimits(limits, guess, proven, account?.networks)));
      // A browser that has signed in before has a share of its own: not that of its address.
      if (proven !== undefined) return { box: guess.box, member: proven };
      attempts.push(beginAttempt(limits.throttle.addresses, ['', '', guess.address]));
      return hashSharer(limits.throttle, guess.box, guess.address);
    });
    if (verified === undefined) for (const attempt of attempts) await attempt.failed();
    return verified;
  } finally {
    endAll(attempts);
  }
}

function beginAtAddress({ throttle }: PasswordLimits, guess: Guess): Attempt {
  return beginAttempt(throttle.passwords, [guess.box, accountOf(guess), guess.address]);
}

function accountOf({ email }: Guess): string {
  return emailKey(email) ?? email;
}

/** One network can use up a quarter of an account's failures, so that one stranger does not reach the whole limit. */
const shareOfOneNetwork = 4;

function sharedLimits(
  { slot, networks, perAccount }: PasswordLimits,
  guess: Guess,
  proven: string | undefined,
  known: SignInNetworks = {},
): readonly SharedLimit[] {
  if (proven !== undefined) return [{ subject: proven, most: perAccount }];
  const perNetwork = Math.max(1, Math.floor(perAccount / shareOfOneNetwork));
  const { box, address } = guess;
  const account = accountOf(guess);
  const ofNetwork = { subject: `guesser:${slot(box, account, siteOf(address))}`, most: perNetwork };
  if (networks.has(known, address)) return [ofNetwork];
  return [{ subject: `account:${slot(box, account)}`, most: perAccount }, ofNetwork];
}

/** A guess at a password over REST, and the ID of the user whose token it has. */
interface RestGuess extends Pick<Guess, 'box' | 'address' | 'onRefused'> {
  readonly by: number | undefined;
}

/** Verifies a password. The user's own token is a proof: strangers cannot keep users from changing their password. */
export async function guessOverRest(
  context: { readonly passwordLimits: PasswordLimits },
  { box, address, onRefused, by }: RestGuess,
  user: StoredUser,
  verify: (sharer: Sharer) => Promise<boolean>,
): Promise<boolean> {
  const proof = by === user.id ? ({ id }: StoredUser): string => `user:${String(id)}` : undefined;
  const right = await throttlePassword(
    context.passwordLimits,
    { box, email: user.email, address, onRefused, proof },
    async (admit) => {
      const sharer = await admit({ user });
      return (await verify(sharer)) ? true : undefined;
    },
  );
  return right === true;
}

/** The networks that signed in to an account in the last 30 days, at most five of them. */
interface KnownNetworks {
  has(networks: SignInNetworks, address: string): boolean;
  /** Stores that an address signed in to an account, at most once an hour for each network. Throws Outage. */
  add(box: string, account: { readonly user: { readonly id: number } } & SignedInFrom, address: string): Promise<void>;
}

/** The networks that are stored for a user; undefined if the password is not that of a sign-in. */
interface SignedInFrom {
  readonly networks?: SignInNetworks | undefined;
}

/** Creates the known networks, which are stored with the users; `now` is in milliseconds since 1970. */
function createKnownNetworks(pool: Connections, now: () => number): KnownNetworks {
  const seconds = (): number => Math.floor(now() / 1000);
  const isWithin = (networks: SignInNetworks, network: string, limit: number): boolean =>
    seconds() - (networks[network] ?? -Infinity) < limit;

  return {
    has: (networks, address) => isWithin(networks, siteOf(address), month),
    async add(box, { user, networks }, address) {
      const network = siteOf(address);
      if (networks === undefined || isWithin(networks, network, hour)) return;
      const proven = { user: user.id, network, at: seconds() };
      await inBox(pool, box, 'write', (connection) => storeNetwork(connection, box, proven));
    },
  };
}

/** Returns the network of a home or an office, whose address may change: the /24 of IPv4, the /64 of IPv6. */
function siteOf(address: string): string {
  return networkOf(address).replace(/\.\d+$/, '.0/24');
}

/** Seconds. */
const hour = 3_600;
const month = 30 * 24 * hour;

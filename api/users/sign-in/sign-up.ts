import type { Box } from '../../../crds/box.ts';
import { lockVersion } from '../../db/box/box.ts';
import { readUse } from '../../db/box/box-use.ts';
import { Outage } from '../../db/core/outage.ts';
import { inBoxRecorded } from '../../audit/recorded.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { findSigningIn, userOfEmail } from '../../db/user.ts';
import type { StoredPassword } from '../../db/user.ts';
import { insertUser, setGroupsOfUser } from '../../db/user-write.ts';
import type { NewUser } from '../../db/user-write.ts';
import { nothingHere } from '../../problem.ts';
import { withinQuota } from '../../records/write/change.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { StateCache } from '../../box/state-cache.ts';
import { beginSignIn } from './begin-sign-in.ts';
import type { SignedIn } from './begin-sign-in.ts';
import { emailKey } from '../email.ts';
import { groupNamed } from '../../records/group.ts';
import { newUserEvents } from '../user-events.ts';
import { passwordWeakness } from '../password-faults.ts';
import type { PasswordWeakness } from '../password-faults.ts';
import type { ResourceServices } from '../../records/services.ts';

/** Content of the sign-up form. */
export interface Registration {
  readonly email: string;
  readonly password: string;
}

/** Checks whether users may register themselves in a box. */
export function isOpenForSignUp({ active, registration }: Box): boolean {
  return registration?.enabled === true && active !== false;
}

/** Faults of a registration, by its field. */
export interface RegistrationFaults {
  readonly email?: 'no-email' | 'other-domain' | undefined;
  readonly password?: PasswordWeakness | undefined;
}

/** Returns the faults of a registration regardless of other users; undefined: none. */
export async function registrationFaults(
  { email, password }: Registration,
  settings: Box,
): Promise<RegistrationFaults | undefined> {
  const faults = { email: emailFault(email, settings), password: await passwordWeakness(password, settings) };
  return faults.email === undefined && faults.password === undefined ? undefined : faults;
}

function emailFault(email: string, { registration }: Box): RegistrationFaults['email'] {
  const key = emailKey(email);
  if (key === undefined) return 'no-email';
  const domain = key.slice(key.lastIndexOf('@') + 1);
  return registration?.allowed_email_domains?.includes(domain) === false ? 'other-domain' : undefined;
}

/**
 * Returns the obstacle in the box to a registration that has other faults already, so that both are reported at once:
 * `taken` when another user has the email, `full` beyond the quota of users. Throws Outage.
 */
export function signUpObstacle(
  { pool }: Pick<ResourceServices, 'pool'>,
  box: string,
  email: string,
): Promise<'taken' | 'full' | undefined> {
  return inBox(pool, box, 'snapshot', (connection) => obstacleOf(connection, box, emailKey(email) ?? ''));
}

type SignUpServices = Pick<ResourceServices, 'pool' | 'trail' | 'passwords' | 'now' | 'revocationsNeedStandby'> & {
  readonly states: Pick<StateCache, 'decide'>;
};

/**
 * Registers a user in the default group of the box, and signs the browser in; `waiting` if an admin must approve first,
 * `taken` when another user has the email, `full` when the box has as many users as its quota allows. Throws Problem
 * `not-found` if users cannot register themselves, and Outage when Postgres is away or too many passwords wait.
 */
export async function signUp(
  services: SignUpServices,
  box: string,
  { email, password }: Registration,
  browser: string,
): Promise<SignedIn | { readonly faults: RegistrationFaults } | 'waiting' | 'taken' | 'full'> {
  const key = emailKey(email) ?? '';
  // Before the password is hashed, which costs a hundred times as much.
  const obstacle = await inBox(services.pool, box, 'snapshot', (connection) => obstacleOf(connection, box, key));
  if (obstacle !== undefined) return obstacle;
  const stored = await services.passwords.store(password);
  for (let round = 0; round < mostRounds; round += 1) {
    const open = await openBox(services.states, box);
    const faults = await registrationFaults({ email, password }, open.settings);
    if (faults !== undefined) return { faults };
    const outcome = await storeUser(services, open, { key, stored }, browser);
    if (outcome !== 'outdated') return outcome;
  }
  throw new Outage('The configuration of the box changes too often to register a user');
}

/** Decisions on one registration: the configuration may change before each is stored. */
const mostRounds = 5;

/** A box in which users may register themselves, at one config version. */
interface OpenBox extends Pick<BoxState, 'box' | 'version'> {
  readonly settings: Box;
}

/** Reads the settings of a box. Throws Problem `not-found` if users may not register themselves. */
async function openBox(states: SignUpServices['states'], box: string): Promise<OpenBox> {
  const open = await states.decide(box, async ({ version, settings }) => ({ box, version, settings }));
  // A locked box has the default settings here, which admit nobody.
  if (open === undefined || !isOpenForSignUp(open.settings)) throw nothingHere();
  return open;
}

/** Key of the email, and stored form of the password, of a user who registers. */
interface Account {
  readonly key: string;
  readonly stored: StoredPassword;
}

/** Stores a user and the sign-in; `outdated` if the configuration has changed since it was read. */
async function storeUser(
  services: SignUpServices,
  { box, version, settings }: OpenBox,
  { key, stored }: Account,
  browser: string,
): Promise<SignedIn | 'waiting' | 'taken' | 'outdated'> {
  const { default_group, approval } = settings.registration ?? {};
  const groups = default_group === undefined ? [] : [await groupNamed(services, box, default_group)];
  const awaitsApproval = approval === 'admin';
  const registered: NewUser = {
    ...{ email: key, emailKey: key, emailVerified: false, password: stored, data: null },
    ...{ status: awaitsApproval ? 'inactive' : null, awaitsApproval },
  };
  return inBoxRecorded(services, box, async (connection, note) => {
    if ((await lockVersion(connection, box)) !== version) return 'outdated';
    const insert = () => insertUser(connection, box, registered);
    const user = await withinQuota(connection, box, insert);
    if (user === undefined) return 'taken';
    const missing = await setGroupsOfUser(connection, box, user, groups);
    if (missing.length > 0) throw new Outage('The default group was deleted meanwhile');
    for (const event of newUserEvents('user.signed_up', user, groups)) note(event);
    if (awaitsApproval) return 'waiting';
    const since = (await findSigningIn(connection, box, key))?.version ?? 0;
    const { now, revocationsNeedStandby } = services;
    const who = { user: { id: user, password: stored }, version: since, browser, now: now(), revocationsNeedStandby };
    const signedIn = await beginSignIn(connection, box, settings, who);
    if (signedIn === undefined) throw new Outage('The new user was deleted meanwhile');
    for (const other of signedIn.signedOut) note({ event: 'user.signed_out', target: `User/${String(other)}` });
    return signedIn;
  });
}

async function obstacleOf(connection: Connection, box: string, key: string): Promise<'taken' | 'full' | undefined> {
  if ((await userOfEmail(connection, box, key)) !== undefined) return 'taken';
  const { use, quota } = await readUse(connection, box);
  return use.users < quota.users ? undefined : 'full';
}

import type { PinnedServiceAccount, SeenServiceAccount } from '../../api/client/cluster.ts';
import { accountName, type AccountName, type AccountState } from './declared.ts';
import type { Desired } from './desired.ts';
import type { BoxApi } from '../reconcile/box-pass.ts';
import type { Source } from './source.ts';

/** The API, and the source that knows the ServiceAccounts of the cluster. */
export interface AccountSources {
  readonly box: string;
  readonly api: Pick<BoxApi, 'serviceAccounts'>;
  readonly serviceAccounts: Source['serviceAccounts'];
  readonly signal: AbortSignal;
}

/**
 * Compares the pins of a box, and the uids that entries name, with the ServiceAccounts of the cluster. The API is told
 * of those that are gone, refuses their tokens, and revokes those of their clients. If the cluster may not be asked,
 * nothing is known. Returns the states by object key; `before` has the earlier ones. Throws ManagementError.
 */
export async function followServiceAccounts(
  desired: readonly Desired[],
  before: AccountStates,
  { box, api, serviceAccounts, signal }: AccountSources,
): Promise<AccountStates> {
  const listed = desired.flatMap(({ validated }) => validated.accounts);
  if (serviceAccounts === undefined || listed.length + before.size === 0) return before;
  const pins = listed.length === 0 ? [] : await api.serviceAccounts([]);
  const entries = entriesOf(desired, pins);
  const asked = entries.flatMap(({ namespace, name, declared, pin }) => {
    const uid = declared ?? pin?.uid;
    return uid === undefined ? [] : [{ namespace, name, uid }];
  });
  const seen = await serviceAccounts(box, listed, asked, signal);
  const seenNow = (account: AccountName): string | null | undefined => seen.get(accountName(account));
  const told = entries.flatMap((entry) => news(entry, seenNow(entry)));
  const stored = told.length === 0 ? pins : await api.serviceAccounts(told);
  return statesOf(desired, stored, seenNow, before);
}

/** By object key: the states of a client's pinned ServiceAccounts. */
type AccountStates = ReadonlyMap<string, readonly AccountState[]>;

/** An entry of a client's row. */
interface Entry extends AccountName {
  readonly client: string;
  /** Uid in the entry. */
  readonly declared: string | undefined;
  readonly pin: PinnedServiceAccount | undefined;
}

/** Returns the entries that are pinned or name a uid; if two objects declare an id, those of the one that has it. */
function entriesOf(desired: readonly Desired[], pins: readonly PinnedServiceAccount[]): readonly Entry[] {
  const entries = new Map<string, Entry>(pins.map((pin) => [keyOf(pin), { ...pin, declared: undefined, pin }]));
  for (const { validated, loses } of desired) {
    if (loses !== undefined) continue;
    for (const { namespace, name, uid: declared } of validated.accounts) {
      if (declared === undefined) continue;
      const entry = { client: validated.id, namespace, name };
      entries.set(keyOf(entry), { ...entry, declared, pin: entries.get(keyOf(entry))?.pin });
    }
  }
  return [...entries.values()];
}

function keyOf({ client, ...account }: AccountName & { readonly client: string }): string {
  return `${client} ${accountName(account)}`;
}

/** Returns the state of an entry that the API has not stored yet, given the uid that exists now. */
function news(
  { client, namespace, name, declared, pin }: Entry,
  uid: string | null | undefined,
): readonly SeenServiceAccount[] {
  // An existing ServiceAccount with the named uid is pinned by its first token.
  const expected = declared === undefined || declared === uid ? pin?.uid : declared;
  if (uid === undefined || expected === undefined) return [];
  if (pin?.uid === expected && pin.gone === (uid !== expected)) return [];
  return [{ client, namespace, name, uid, ...(declared === undefined ? {} : { declared }) }];
}

/** Returns the states by object key. An unchanged list stays the same instance: then the status is as it was. */
function statesOf(
  desired: readonly Desired[],
  pins: readonly PinnedServiceAccount[],
  seenNow: (account: AccountName) => string | null | undefined,
  before: AccountStates,
): AccountStates {
  const ofEntry = new Map(pins.map((pin) => [keyOf(pin), pin]));
  const states = desired.flatMap(({ object, validated }) => {
    const found = validated.accounts.flatMap((entry, index) => {
      const pin = ofEntry.get(keyOf({ client: validated.id, ...entry }));
      if (pin === undefined) return [];
      const { namespace, name } = pin;
      const uid = entry.uid ?? pin.uid;
      const seen = namespace === object.namespace ? seenNow(pin) : notToldMore(uid, seenNow(pin));
      return [{ namespace, name, uid, gone: pin.gone && uid === pin.uid, index, seen }];
    });
    if (found.length === 0) return [];
    const known = before.get(object.key);
    return [[object.key, JSON.stringify(known) === JSON.stringify(found) && known ? known : found] as const];
  });
  return new Map(states);
}

/**
 * Hides the uid of a ServiceAccount in a foreign namespace unless it is the pinned one. Anybody who may write a Client
 * can name a ServiceAccount and a uid: they must not learn whether another one exists, or its uid.
 */
function notToldMore(uid: string, seen: string | null | undefined): string | null | undefined {
  return seen === undefined || seen === uid ? seen : null;
}

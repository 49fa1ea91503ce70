import type { PinnedServiceAccount } from '../api/client/service-accounts.ts';
import { ManagementError } from '../api/client/management-error.ts';
import { accountName, type AccountState } from './account-state.ts';
import type { BoxMemory } from './box-memory.ts';
import type { Desired } from './desired.ts';
import type { PassContext } from './pass-context.ts';

/**
 * Compares the pins of a box with the ServiceAccounts that the cluster has. The API hears of those that are gone, and revokes
 * the tokens of their clients. Where the cluster may not be asked, or the API is an older one, nothing is known. Throws
 * ManagementError.
 */
export async function followServiceAccounts(
  box: string,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<void> {
  const { serviceAccounts } = context.source;
  const listed = desired.flatMap(({ judged }) => judged.accounts);
  if (serviceAccounts === undefined || listed.length + memory.accounts.size === 0) return;
  const pins = listed.length === 0 ? [] : await askedPins(box, context, signal);
  const seen = await serviceAccounts(box, listed, pins, signal);
  const seenNow = (pin: PinnedServiceAccount): string | null | undefined => seen.get(accountName(pin));
  const told = pins.flatMap((pin) => {
    const uid = seenNow(pin);
    const { client, namespace, name } = pin;
    return uid === undefined || (uid !== pin.uid) === pin.gone ? [] : [{ client, namespace, name, uid }];
  });
  const stored = told.length === 0 ? pins : await tell(box, told, context, signal);
  memory.accounts = statesOf(desired, stored, seenNow, memory.accounts);
}

/** An API of an older release does not know the call. */
async function askedPins(
  box: string,
  context: PassContext,
  signal: AbortSignal,
): Promise<readonly PinnedServiceAccount[]> {
  try {
    return await tell(box, [], context, signal);
  } catch (error) {
    if (error instanceof ManagementError && error.sort === 'refused') return [];
    throw error;
  }
}

async function tell(
  box: string,
  seen: Parameters<PassContext['management']['serviceAccounts']>[1]['seen'],
  { management, cluster, epoch }: PassContext,
  signal: AbortSignal,
): Promise<readonly PinnedServiceAccount[]> {
  return management.serviceAccounts(box, { cluster, epoch: await epoch(signal), seen }, signal);
}

/** By object key. A list that says what it said before is that very list: then the status is as it was. */
function statesOf(
  desired: readonly Desired[],
  pins: readonly PinnedServiceAccount[],
  seenNow: (pin: PinnedServiceAccount) => string | null | undefined,
  before: ReadonlyMap<string, readonly AccountState[]>,
): ReadonlyMap<string, readonly AccountState[]> {
  const ofEntry = new Map(pins.map((pin) => [`${pin.client} ${accountName(pin)}`, pin]));
  const states = desired.flatMap(({ object, judged }) => {
    const found = judged.accounts.flatMap((entry, index) => {
      const pin = ofEntry.get(`${judged.id} ${accountName(entry)}`);
      if (pin === undefined) return [];
      const { namespace, name } = pin;
      const uid = entry.uid ?? pin.uid;
      return [{ namespace, name, uid, gone: pin.gone && uid === pin.uid, index, seen: seenNow(pin) }];
    });
    if (found.length === 0) return [];
    const known = before.get(object.key);
    return [[object.key, JSON.stringify(known) === JSON.stringify(found) && known ? known : found] as const];
  });
  return new Map(states);
}

import { ManagementError } from '../../api/client/management-error.ts';
import type { Desired } from '../desired/desired.ts';
import { lockedBox } from '../desired/locked-box.ts';
import { failureOf } from './failure.ts';
import type { BoxPass } from './box-pass.ts';
import { publish, type Remainder } from './publish.ts';

/** Outcome of applying the desired state of a box, which its statuses report. */
export type Outcome =
  /** `isCut`: the next pass sends the rest. */
  | { readonly result: 'applied'; readonly isCut: boolean }
  /** The box belongs to another namespace, whose uid is `bound`. */
  | { readonly result: 'locked'; readonly bound: string | undefined }
  | { readonly result: 'failed'; readonly error: unknown };

/** Returns the outcome of `apply`, which returns whether anything is left for the next pass. */
export async function outcomeOf(apply: () => Promise<boolean>): Promise<Outcome> {
  try {
    return { result: 'applied', isCut: await apply() };
  } catch (error) {
    return isLocked(error) ? { result: 'locked', bound: error.bound } : { result: 'failed', error };
  }
}

/** Checks whether the API refuses a call because the box belongs to another namespace. */
export function isLocked(error: unknown): error is ManagementError {
  return error instanceof ManagementError && error.code === 'locked';
}

/** Writes the statuses that follow from an outcome; returns what remains. Throws the error of a failure. */
export async function writeStatuses(pass: BoxPass, desired: readonly Desired[], outcome: Outcome): Promise<Remainder> {
  const { box, namespace, cache } = pass;
  if (outcome.result !== 'applied') cache.stored.markUnsynced();
  switch (outcome.result) {
    case 'applied':
      cache.locked = undefined;
      // Rows come before statuses.
      return outcome.isCut ? 'more' : publish(pass, desired, 'pending');
    case 'locked':
      cache.locked = lockedBox(box, outcome.bound, namespace, cache.locked);
      // Only an admin's decision helps, which is seen immediately: there is no reason to retry.
      await releaseTerminating(pass);
      return publish(pass, desired, 'pending');
    case 'failed':
      await publish(pass, desired, failureOf(outcome.error), reported(pass, desired));
      throw outcome.error;
  }
}

/**
 * Returns the keys of the objects whose statuses a failure leaves as they are. Before the rows were ever read, nobody
 * knows whether an object is in force: a status about what it declares now stays. A Box tells whether the API answers.
 */
function reported({ cache, context }: BoxPass, desired: readonly Desired[]): ReadonlySet<string> {
  const { source, apiFault } = context;
  if (cache.stored.isKnown) return new Set();
  const objects = desired.map(({ object }) => object).filter(({ kind }) => kind !== 'Box' || apiFault() === undefined);
  return new Set(objects.filter((one) => source.isReported?.(one) === true).map(({ key }) => key));
}

/** Releases the terminating objects of a locked box. They have no row: its rows belong to the earlier namespace. */
async function releaseTerminating({ box, context: { source }, signal }: BoxPass): Promise<void> {
  const going = source.finalizers?.terminating(box) ?? [];
  if (going.length > 0) await source.finalizers?.remove(box, going, signal);
}

import { refusalTexts } from '../../../crds/user-faults.ts';
import type { Fault } from '../../../crds/fault.ts';
import { missingGroups, userOfEmail } from '../../db/user/user-conflicts.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { UserWish } from './submission.ts';

/** Fault of an email that another user has. */
export const taken: Fault = { path: 'email', message: refusalTexts.taken };

/** Returns the fault of groups that do not exist. */
export function unknownGroups(ids: readonly number[]): Fault {
  return { path: 'group-ids', message: `must be groups of this box: there is no group ${ids.join(', ')}` };
}

/** Returns the conflicts of a requested user with the box as it is now; `self` is the user to be changed. */
export async function conflictsOf(
  connection: Connection,
  box: string,
  { emailKey, groups = [] }: UserWish,
  self?: number,
): Promise<readonly Fault[]> {
  const owner = emailKey === undefined ? undefined : await userOfEmail(connection, box, emailKey);
  const missing = groups.length === 0 ? [] : await missingGroups(connection, box, groups);
  return [
    ...(owner === undefined || owner === self ? [] : [taken]),
    ...(missing.length === 0 ? [] : [unknownGroups(missing)]),
  ];
}

import { useBox } from './box/use.ts';
import { boxStatus } from './box/status.ts';
import type { Command } from './command.ts';
import { diffFolder } from './export/diff.ts';
import { exportBox } from './export/export.ts';
import { planFolder } from './plan/plan.ts';
import { deleteUser } from './user/delete.ts';
import { userGroups } from './user/groups.ts';
import { listUsers } from './user/list.ts';
import { newUser } from './user/new.ts';
import { setUser } from './user/set.ts';
import { showUser } from './user/show.ts';
import { disableUser, enableUser } from './user/switch.ts';

/** Every command that has a file of its own, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  listUsers,
  newUser,
  showUser,
  setUser,
  disableUser,
  enableUser,
  userGroups,
  deleteUser,
  exportBox,
  diffFolder,
  planFolder,
  useBox,
  boxStatus,
];

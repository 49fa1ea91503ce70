import { audit } from './audit.ts';
import { listBoxes, boxStatus, useBox } from './box.ts';
import { clientCommands } from './client.ts';
import type { Command } from './command.ts';
import { completionOf } from './completion.ts';
import { can, explain } from './decision.ts';
import { diffFolder } from './export/diff.ts';
import { exportBox } from './export/export.ts';
import { groupCommands } from './group.ts';
import { login, logout } from './login.ts';
import { showToken, token } from './token.ts';
import { planFolder } from './plan.ts';
import { policyCommands } from './policy.ts';
import { sessionCommands } from './session.ts';
import { deleteUser, listUsers, showUser, setUser, disableUser, enableUser, newUser } from './user.ts';
import { userGroups } from './user-groups.ts';
import { version } from './help.ts';

const commands: readonly Command[] = [
  login,
  logout,
  // Before `token`, whose name it begins with.
  showToken,
  token,
  useBox,
  listBoxes,
  boxStatus,
  listUsers,
  newUser,
  showUser,
  setUser,
  disableUser,
  enableUser,
  userGroups,
  deleteUser,
  ...groupCommands,
  ...clientCommands,
  ...policyCommands,
  ...sessionCommands,
  can,
  explain,
  exportBox,
  diffFolder,
  planFolder,
  audit,
  version,
];

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Command[] = [...commands, completionOf(commands)];

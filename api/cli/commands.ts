import { audit } from './audit/audit.ts';
import { listBoxes } from './box/list.ts';
import { boxStatus } from './box/status.ts';
import { useBox } from './box/use.ts';
import { clientCommands } from './client/client.ts';
import type { Command } from './command.ts';
import { completionOf } from './completion/completion.ts';
import { can } from './decision/can.ts';
import { explain } from './decision/explain.ts';
import { diffFolder } from './export/diff.ts';
import { exportBox } from './export/export.ts';
import { groupCommands } from './group/group.ts';
import { login } from './login/login.ts';
import { logout } from './login/logout.ts';
import { showToken } from './login/token-show.ts';
import { token } from './login/token.ts';
import { planFolder } from './plan/plan.ts';
import { policyCommands } from './policy/policy.ts';
import { sessionCommands } from './session/session.ts';
import { deleteUser } from './user/delete.ts';
import { userGroups } from './user/groups.ts';
import { listUsers } from './user/list.ts';
import { newUser } from './user/new.ts';
import { setUser } from './user/set.ts';
import { showUser } from './user/show.ts';
import { disableUser, enableUser } from './user/switch.ts';
import { version } from './version.ts';

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

import type { Scenario } from '../scenario.ts';
import { argon2Flood } from './argon2-flood.ts';
import { auditLines } from './audit-lines.ts';
import { boxctl } from './boxctl.ts';
import { balanced } from './balanced.ts';
import { checks } from './checks.ts';
import { chosenSecrets } from './chosen-secrets.ts';
import { codeFlow } from './code-flow.ts';
import { everyRoute } from './every-route.ts';
import { folder } from './folder.ts';
import { manyBoxes } from './many-boxes.ts';
import { manyConnections } from './many-connections.ts';
import { memory } from './memory.ts';
import { millionPages } from './million-pages.ts';
import { millionUsers } from './million-users.ts';
import { newDay } from './new-day.ts';
import { oneConnection } from './one-connection.ts';
import { policyOfGroup } from './policy-of-group.ts';
import { putClient } from './put-client.ts';
import { replicas } from './replicas.ts';
import { signIns } from './sign-ins.ts';
import { sizing } from './sizing.ts';
import { storage } from './storage.ts';
import { millionSessions, tenMillionSessions } from './stored-sessions.ts';
import { tokens } from './tokens.ts';

/** Every scenario, in the order of the table. */
export const scenarios: readonly Scenario[] = [
  tokens,
  checks,
  auditLines,
  storage,
  sizing,
  replicas,
  balanced,
  oneConnection,
  newDay,
  millionSessions,
  tenMillionSessions,
  memory,
  manyConnections,
  manyBoxes,
  folder,
  chosenSecrets,
  argon2Flood,
  signIns,
  codeFlow,
  millionUsers,
  millionPages,
  policyOfGroup,
  boxctl,
  putClient,
  everyRoute,
];

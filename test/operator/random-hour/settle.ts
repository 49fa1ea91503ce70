import { forEachConcurrently } from '../../../operator/kube/client/kube-object.ts';
import { asOwner } from '../../support/postgres.ts';
import { eventually } from '../../support/eventually.ts';
import type { Checker } from './checker.ts';
import { listClients, type FoundClient } from './found-client.ts';
import type { HourStage } from './stage.ts';

/** Milliseconds until everything is as it should be once all faults are withdrawn: far more than it takes. */
const patience = 240_000;

/**
 * Waits until every status is true: Ready, or not Ready for a reason that holds. Then checks each Client on both
 * replicas, and that no row is left of an object that has gone. Returns what does not hold.
 */
export async function settle(stage: HourStage, checker: Checker): Promise<readonly string[]> {
  let open: readonly string[] = [];
  const isSettled = async (): Promise<boolean> => {
    const { clients } = await listClients(stage.plane, '');
    open = await unsettled(clients, checker);
    return open.length === 0;
  };
  try {
    await eventually('every status is true', isSettled, patience);
  } catch (error) {
    return [`never settled (${String(error)}): ${open.slice(0, 10).join('; ')}`];
  }
  const { clients } = await listClients(stage.plane, '');
  const wrong: string[] = [];
  await forEachConcurrently(clients, async ({ box, name, ready }) => {
    const outcome = await checker.check(box, name);
    if (outcome === 'wrong' || (outcome === 'moved' && ready?.status === 'True'))
      wrong.push(`${box}/${name} is not usable once all faults are over: ${outcome}`);
  });
  return [...wrong, ...(await leftRows(stage, clients))];
}

/** The objects whose status is not true (yet), with what is missing. */
async function unsettled(clients: readonly FoundClient[], checker: Checker): Promise<readonly string[]> {
  const open: string[] = [];
  for (const client of clients) {
    const why = await untruth(client, clients, checker);
    if (why !== undefined) open.push(`${client.box}/${client.name} ${why}: ${JSON.stringify(client.status)}`);
  }
  return open;
}

async function untruth(
  client: FoundClient,
  clients: readonly FoundClient[],
  checker: Checker,
): Promise<string | undefined> {
  const { isGoing, ready, spec } = client;
  if (isGoing) return 'waits with its deletion';
  if (ready === undefined) return 'has no status of this generation';
  const { status, reason } = ready;
  if (spec['suspend'] === true) return reason === 'Suspended' ? undefined : 'is suspended and does not say so';
  const isStranger = await checker.isStranger(client);
  switch (reason) {
    case 'Ready':
      return status === 'True' && isStranger !== true ? undefined : 'is Ready, and its ServiceAccount is lost';
    case 'DeclaredTwice':
      return holderOf(client, clients) === undefined ? 'says that another object has its id' : undefined;
    case 'ServiceAccountDeleted':
    case 'ServiceAccountRecreated':
      return isStranger === false ? 'says that a ServiceAccount is lost that is there' : undefined;
    default:
      return `is ${status}/${reason}`;
  }
}

/** The other object that declares the same id, and has it. */
function holderOf({ box, id, uid }: FoundClient, clients: readonly FoundClient[]): FoundClient | undefined {
  return clients.find(
    (one) => one.box === box && one.id === id && one.uid !== uid && one.ready?.reason !== 'DeclaredTwice',
  );
}

async function leftRows({ database }: HourStage, clients: readonly FoundClient[]): Promise<readonly string[]> {
  const rows = await asOwner(new URL(database.ownerUrl).pathname.slice(1), async (owner) => {
    const found = await owner.query<{ box: string; id: string; owner_uid: string }>(
      `SELECT box, id, owner_uid FROM boxgate.resource WHERE kind = 'Client' AND owner_uid IS NOT NULL`,
    );
    return found.rows;
  });
  const present = new Set(clients.map(({ uid }) => uid));
  return rows
    .filter(({ owner_uid: uid }) => !present.has(uid))
    .map(({ box, id }) => `${box}/${id} has a row, and no object`);
}

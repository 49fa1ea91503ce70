import { isObject } from '../../../crds/path.ts';
import { asOwner, type TestDatabase } from '../../support/postgres.ts';
import type { ApiWorld } from './api-world.ts';
import { isReady, metadataOf, type ClusterBox, type Found } from './cluster-box.ts';

/** Looks at a box all the time; see {@link watchInvariants}. */
export interface InvariantWatch {
  /** Ends it: what did not hold. */
  end(): Promise<readonly string[]>;
}

/**
 * I1: a client that no policy concerns gets nothing. I8: a Client that is Ready gets a token with the secret that is
 * declared for it. I10: of an object that has gone no row is left.
 */
export function watchInvariants(box: ClusterBox, world: ApiWorld, database: TestDatabase): InvariantWatch {
  const violations: string[] = [];
  const probed = new Set<string>();
  let known = new Map<string, string>();
  let isOver = false;

  const round = async (): Promise<void> => {
    for (const by of world.strangers) {
      const { status } = await world.ask('GET', '/Session', { by });
      if (status < 400) violations.push(`I1 a client without a policy got ${String(status)}`);
    }
    const clients = await box.list('Client');
    const policies = await box.list('AccessPolicy');
    const present = new Map(
      [...clients, ...policies].map((found) => [String(metadataOf(found)['uid']), String(metadataOf(found)['name'])]),
    );
    for (const [uid, name] of known) if (!present.has(uid)) violations.push(...(await leftOf(uid, name)));
    known = present;
    for (const client of clients.filter(isReady)) {
      const { uid, resourceVersion } = metadataOf(client);
      const key = `${String(uid)} ${String(resourceVersion)}`;
      if (probed.has(key)) continue;
      probed.add(key);
      violations.push(...(await refusedThough(client)));
    }
  };

  async function leftOf(uid: string, name: string): Promise<readonly string[]> {
    const rows = await rowsOf(database, box.name, uid);
    return rows === 0 ? [] : [`I10 ${name} is gone, and its row is there`];
  }

  /** Only where it is still the same object: what changed meanwhile was another truth. */
  async function refusedThough(client: Found): Promise<readonly string[]> {
    const secret = await secretOf(box, client);
    const { name, uid, resourceVersion } = metadataOf(client);
    if (secret === undefined) return [];
    const by = { id: String(name), secret };
    const { status } = await world.ask('POST', '/auth/token', { by, form: { grant_type: 'client_credentials' } });
    if (status === 200 || (await secretOf(box, client)) !== secret) return [];
    const now = (await box.list('Client')).find((one) => metadataOf(one)['uid'] === uid);
    if (now === undefined || metadataOf(now)['resourceVersion'] !== resourceVersion) return [];
    return [`I8 ${String(name)} is Ready, and its token request got ${String(status)}`];
  }

  const work = async (): Promise<void> => {
    while (!isOver) {
      await round();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const running = work();
  // Who ends it hears of it.
  running.catch(() => undefined);
  return {
    async end() {
      isOver = true;
      await running;
      return violations;
    },
  };
}

/** The secret of a client as it is declared; undefined for one that has none, or is switched off. */
async function secretOf(box: ClusterBox, client: Found): Promise<string | undefined> {
  const spec = isObject(client['spec']) ? client['spec'] : {};
  if (spec['active'] === false) return undefined;
  if (typeof spec['secret'] === 'string') return spec['secret'];
  // What people write into a Secret is heard of after them: that it comes to work is for the story to see.
  if (spec['secretRef'] !== undefined) return undefined;
  return (await box.secret(String(metadataOf(client)['name'])))?.['client_secret'];
}

async function rowsOf(database: TestDatabase, box: string, uid: string): Promise<number> {
  return asOwner(new URL(database.ownerUrl).pathname.slice(1), async (owner) => {
    const { rows } = await owner.query('SELECT FROM boxgate.resource WHERE box = $1 AND owner_uid = $2', [box, uid]);
    return rows.length;
  });
}

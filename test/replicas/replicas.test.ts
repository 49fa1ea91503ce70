import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { seededRandom } from '../support/random.ts';
import { startReplica } from './replica.ts';
import type { Replica } from './replica.ts';
import { codePlays } from './code-rounds.ts';
import { endingPlays } from './ending-rounds.ts';
import { peoplePlays } from './people-rounds.ts';
import { plays } from './rounds.ts';
import type { Play, Round } from './rounds.ts';

/** `make replicas` plays a thousand. */
const rounds = Number(process.env['BOXGATE_ROUNDS'] ?? 120);
const boxes = ['one', 'two', 'three'] as const;

describe('two API processes on one Postgres', () => {
  let database: TestDatabase;
  let replicas: readonly [Replica, Replica];
  const admins = new Map<string, Round['admin']>();

  before(async () => {
    database = await freshDatabase();
    replicas = await Promise.all([startReplica('a', database.apiUrl), startReplica('b', database.apiUrl)]);
    for (const box of boxes) admins.set(box, await makeAdmin(replicas[0], box));
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  it(`never answer under an older state, in ${String(rounds)} rounds of any kind`, async function () {
    this.timeout(60_000 + rounds * 2_000);
    const random = seededRandom();
    const kinds = Object.entries<Play>({ ...plays, ...endingPlays, ...peoplePlays, ...codePlays });
    for (let nth = 0; nth < rounds; nth += 1) {
      const [kind, play] = kinds[nth % kinds.length] ?? ['none', undefined];
      const box = random.pick(boxes);
      const [actor, user] = random.pick([replicas, [replicas[1], replicas[0]]]);
      const admin = admins.get(box);
      if (play === undefined || admin === undefined) throw new Error('no such round');
      try {
        await play({ nth, random, box, actor, user, admin, ownerUrl: database.ownerUrl });
      } catch (cause) {
        const which = `round ${String(nth)} of BOXGATE_SEED=${String(random.seed)}, ${kind} on ${actor.name} in ${box}`;
        throw new Error(`${which}: ${cause instanceof Error ? cause.message : 'failed'}`, { cause });
      }
    }
    expect(rounds).to.be.greaterThan(kinds.length);
  });
});

/** A client that a policy allows everything; introspects, and changes resources over REST. */
async function makeAdmin(replica: Replica, box: string): Promise<Round['admin']> {
  const admin = { id: 'admin', secret: generateClientSecret() };
  const link = [{ resourceType: 'Client', id: 'admin' }];
  await replica.manage.declare(box, [
    { kind: 'Client', grant_types: ['client_credentials'], ...admin },
    { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link },
  ]);
  const reply = await replica.caller(0).inBox(box).issue(admin);
  return { ...admin, token: String(reply.json['access_token']) };
}

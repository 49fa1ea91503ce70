import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { startReplica } from './replica.ts';
import type { Replica } from './replica.ts';

const app = { id: 'app', secret: 'secret' };
const client = {
  kind: 'Client',
  ...app,
  grant_types: ['client_credentials'],
  auth: { client_credentials: { token_format: 'jwt' } },
} as const;
const fiveMinutes = 300_000;

/** Code that a process runs first: its clock is ahead of the machine's. */
function ahead(milliseconds: number): Readonly<Record<string, string>> {
  const code = `const { now } = Date; Date.now = () => now() + ${String(milliseconds)};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

describe('F-25 replicas whose clocks differ by ten minutes', () => {
  let database: TestDatabase;
  let early: Replica;
  let late: Replica;

  before(async () => {
    database = await freshDatabase();
    early = await startReplica('one', database.apiUrl, ahead(-fiveMinutes));
    late = await startReplica('two', database.apiUrl, ahead(fiveMinutes));
  });
  after(async () => {
    await Promise.all([early.stop(), late.stop()]);
    await database.drop();
  });

  for (const which of ['early', 'late'] as const) {
    it(`issue tokens with the time of Postgres, which all take and revoke alike (${which})`, async () => {
      const box = `of-${which}`;
      await early.manage.declare(box, [client]);
      const [one, two] = [early.caller(0).inBox(box), late.caller(0).inBox(box)];
      const issued = await (which === 'early' ? one : two).issue(app);
      const token = String(issued.json['access_token']);
      expect(Number(decodeJwt(token).iat) * 1000).to.be.closeTo(Date.now(), fiveMinutes / 2);
      for (const caller of [one, two]) expect((await caller.introspect(app, token)).json).to.include({ active: true });
      // Clocks may differ by a second, so the time before which sessions are revoked is always that long ago.
      await eventually('a revocation ends it at both', async () => {
        const revoke_sessions_before = new Date(Date.now() - 1_000).toISOString();
        await early.manage.declare(box, [{ ...client, revoke_sessions_before }]);
        const told = await Promise.all([one, two].map((caller) => caller.introspect(app, token)));
        return told.every(({ json }) => json['active'] === false);
      });
    });
  }
});

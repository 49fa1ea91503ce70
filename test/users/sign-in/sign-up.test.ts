import { expect } from 'chai';
import type pg from 'pg';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { endBoxData } from '../../../api/db/box/box-data.ts';
import { lockBox, retireBox } from '../../../api/db/box/namespace.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { Problem } from '../../../api/problem.ts';
import type { StateCache } from '../../../api/box/state-cache.ts';
import { signUp } from '../../../api/users/sign-in/sign-up.ts';
import { makeWorld } from '../../oauth/world.ts';
import type { Declared, World } from '../../oauth/world.ts';

const password = 'a long enough passphrase';
const open = { registration: { enabled: true } };

describe('a sign-up whose box changes before it is stored', () => {
  let world: World;
  let boxes = 0;

  before(async () => {
    world = await makeWorld();
  });
  after(() => world.end());

  const box = (fields: object) => (id: string) => world.declare(id, { kind: 'Box', id, ...fields });
  const inVersion = (work: (connection: pg.PoolClient, id: string, version: number) => Promise<void>) => (id: string) =>
    inBox(world.services.pool, id, 'write', async (connection) => {
      await work(connection, id, await bumpVersion(connection, id));
    });

  /** States whose first decision is outdated when it returns. */
  function outdatedBy(change: () => Promise<void>): Pick<StateCache, 'decide'> {
    const { states } = world.services;
    let isFirst = true;
    return {
      async decide(id, decision) {
        const decided = await states.decide(id, decision);
        if (isFirst) await change();
        isFirst = false;
        return decided;
      },
    };
  }

  /** Signs up in a new box that is changed meanwhile. Returns the outcome, and the users that the box then has. */
  async function signUpDuring(
    change: (id: string) => Promise<void>,
  ): Promise<readonly [outcome: unknown, users: unknown]> {
    const id = `box-${String((boxes += 1))}`;
    await box(open)(id);
    const trail = world.services.trailOf({});
    const services = { ...world.services, trail, states: outdatedBy(() => change(id)) };
    const outcome = await signUp(services, id, { email: 'ann@shop.example', password }, 'a browser').catch(
      (error: unknown) => (error instanceof Problem ? error.code : error),
    );
    const { rows } = await world.owner.query<Readonly<Record<string, unknown>>>(
      `SELECT (SELECT array_agg(status ORDER BY id) FROM boxgate.user u WHERE u.box = $1) AS users,
              (SELECT count(*)::int FROM boxgate.sign_in s WHERE s.box = $1) AS sign_ins,
              (SELECT array_agg(name ORDER BY id) FROM boxgate.group g WHERE g.box = $1) AS groups`,
      [id],
    );
    const isSignedIn = typeof outcome === 'object' && outcome !== null && 'user' in outcome;
    return [isSignedIn ? 'signed in' : outcome, rows[0]];
  }

  const none = { users: null, sign_ins: 0, groups: null };
  const one = { users: [null], sign_ins: 1, groups: null };
  const cases: Readonly<
    Record<string, readonly [change: (id: string) => Promise<void>, outcome: unknown, stored: object]>
  > = {
    'registration is closed': [box({ registration: { enabled: false } }), 'not-found', none],
    'the box is disabled': [box({ ...open, active: false }), 'not-found', none],
    'another namespace claims the box': [
      inVersion((connection, id) => lockBox(connection, id, 'new')),
      'not-found',
      none,
    ],
    'the namespace is deleted': [inVersion((connection, id) => retireBox(connection, id)), 'not-found', none],
    'the data of the box are discarded for a new owner': [
      inVersion((connection, id, version) => endBoxData(connection, id, version, 'all')),
      'not-found',
      none,
    ],
    'the domain is excluded': [
      box({ registration: { enabled: true, allowed_email_domains: ['other.example'] } }),
      { faults: { email: 'other-domain', password: undefined } },
      none,
    ],
    'passwords must be longer': [
      box({ ...open, password: { min_length: 60 } }),
      { faults: { email: undefined, password: 'too-short' } },
      none,
    ],
    'an administrator must approve': [
      box({ registration: { enabled: true, approval: 'admin' } }),
      'waiting',
      { users: ['inactive'], sign_ins: 0, groups: null },
    ],
    'the default group is another one': [
      box({ registration: { enabled: true, default_group: 'members' } }),
      'signed in',
      { ...one, groups: ['members'] },
    ],
    'nothing that concerns it changes': [
      (id) => world.declare(id, { kind: 'Client', id: 'app', grant_types: [] } satisfies Declared),
      'signed in',
      one,
    ],
  };
  for (const [what, [change, outcome, stored]] of Object.entries(cases)) {
    it(`R-60 is decided again: ${what}`, async () => {
      expect(await signUpDuring(change)).to.deep.equal([outcome, stored]);
    });
  }
});

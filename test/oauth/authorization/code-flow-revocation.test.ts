import { expect } from 'chai';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { changeUser } from '../../../api/records/user-change.ts';
import { removeGrant } from '../../../api/records/grant.ts';
import { removeUser } from '../../../api/records/user.ts';
import { signOut } from '../../../api/users/sign-in/sign-in.ts';
import { createChance, raceRounds, raceSeed, turns } from '../schedule.ts';
import { patiently } from '../world.ts';
import { app, ask, codeIn, codeOf, lives, redeem, tokensOf } from './code-flow-requests.ts';
import type { Person } from './code-flow-requests.ts';
import { makeCodeFlow } from './code-flow-world.ts';
import type { CodeFlow } from './code-flow-world.ts';

describe('the code flow', () => {
  let world: CodeFlow['world'];
  let one: CodeFlow['one'];
  let two: CodeFlow['two'];
  let newBox: CodeFlow['newBox'];
  let newPerson: CodeFlow['newPerson'];

  before(async () => {
    ({ world, one, two, newBox, newPerson } = await makeCodeFlow());
  });
  after(() => world.end());

  /** Revocations of a person's access, and the results of a later request for a code. */
  const takers: Readonly<Record<string, [take: (person: Person) => Promise<unknown>, next: string, error: string]>> = {
    'sign out': [({ box, browser }) => signOut(one, box, browser), 'sign-in', 'invalid_grant'],
    'are disabled': [(person) => change(person, { status: 'inactive' }), 'sign-in', 'invalid_grant'],
    'get a new password': [(person) => change(person, { password: 'correct horse 2' }), 'sign-in', 'invalid_grant'],
    'are deleted': [({ box, user }) => removeUser(recorded(), box, user), 'sign-in', 'invalid_grant'],
    'take their consent back': [
      ({ box, user }) => removeGrant(recorded(), box, { user, client: 'app' }, {}),
      'consent',
      'invalid_grant',
    ],
    'lose the client': [({ box }) => world.remove(box, 'Client', 'app'), 'error-page', 'invalid_client'],
    'have the client created again': [
      async ({ box }) => {
        await world.remove(box, 'Client', 'app');
        await world.declare(box, app);
      },
      'consent',
      'invalid_grant',
    ],
    'lose the client for a while': [
      ({ box }) => world.declare(box, { ...app, active: false }),
      'error-page',
      'invalid_client',
    ],
    'lose the box for a while': [
      ({ box }) => world.declare(box, { kind: 'Box', id: box, active: false }),
      'error-page',
      'invalid_client',
    ],
    'are in a box whose sessions are revoked': [
      ({ box }) => {
        world.clock.now += 2000;
        const revoke_sessions_before = new Date(world.clock.now - 1000).toISOString();
        return world.declare(box, { kind: 'Box', id: box, revoke_sessions_before });
      },
      'sign-in',
      'invalid_grant',
    ],
    'are in a box that is locked': [
      ({ box }) =>
        world.owner.query(
          `UPDATE boxgate.box SET locked_for = 'another', config_version = config_version + 1 WHERE box = $1`,
          [box],
        ),
      'error-page',
      'invalid_client',
    ],
  };

  function recorded() {
    return { ...one, trail: one.trailOf({}) };
  }

  function change({ box, user }: Person, wish: object): Promise<unknown> {
    const settings = { resourceType: 'Box', id: box } as const;
    const caller = {
      settings,
      user: undefined,
      guessPassword: (_user: unknown, verify: (sharer: { box: string; member: string }) => Promise<boolean>) =>
        verify({ box, member: '' }),
    };
    const requested = { form: 'document', value: wish } as const;
    return changeUser(recorded(), box, { id: user, requested, caller, preconditions: {} });
  }

  for (const [what, [take, next, error]] of Object.entries(takers)) {
    it(`leaves people who ${what} no token, and no code that counts`, async () => {
      const person = await newPerson(await newBox());
      const [code, used] = [await codeOf(two, person), await codeOf(two, person)];
      const tokens = await tokensOf(two, person, used);
      await take(person);
      for (const services of [one, two]) {
        expect(await redeem(services, person, code)).to.equal(error);
        expect(await lives(services, person, tokens)).to.equal(false);
        expect((await ask(services, person)).next).to.equal(next);
      }
    });
  }

  it('T-14 leaves no code and no token alive that was given while something took it away', async function () {
    this.timeout(600_000);
    const endings = ['sign out', 'are disabled', 'get a new password', 'are deleted', 'take their consent back'];
    const box = await newBox();
    const seen = { given: 0, refused: 0 };
    for (let round = 0; round < raceRounds; round += 1) {
      const chance = createChance(raceSeed + round);
      const person = await newPerson(box);
      const [take] = takers[endings[chance.number(endings.length)] ?? ''] ?? [];
      const tokens: TokenResponse[] = [];
      const codes: string[] = [];
      const flow = async (services: OAuthServices, redeemer: OAuthServices): Promise<void> => {
        await turns(chance.number(60));
        const code = codeIn(await ask(services, person));
        if (code === undefined) {
          seen.refused += 1;
          return;
        }
        codes.push(code);
        await turns(chance.number(30));
        const reply = await redeem(redeemer, person, code);
        if (typeof reply === 'object') tokens.push(reply);
        seen[typeof reply === 'object' ? 'given' : 'refused'] += 1;
      };
      const ending = async (): Promise<void> => {
        await turns(chance.number(60));
        await patiently(async () => take?.(person));
        for (const services of [one, two]) expect(codeIn(await ask(services, person))).to.equal(undefined);
      };
      await Promise.all([ending(), flow(one, two), flow(two, one), flow(one, one), flow(two, two)]);
      const which = `round ${String(round)}, BOXGATE_RACE_SEED=${String(raceSeed)}`;
      for (const services of [one, two]) {
        for (const one of tokens) expect(await lives(services, person, one), which).to.equal(false);
        for (const code of codes) expect(await redeem(services, person, code), which).to.equal('invalid_grant');
      }
    }
    // Else the schedule would not reach both sides of the race.
    expect(seen.given).to.be.above(raceRounds / 10);
    expect(seen.refused).to.be.above(raceRounds / 10);
  });
});

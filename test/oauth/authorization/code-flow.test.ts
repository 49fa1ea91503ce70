import { expect } from 'chai';
import { answerConsent } from '../../../api/oauth/authorization/authorize.ts';
import { signOut } from '../../../api/users/sign-in/sign-in.ts';
import { decidingUnderLock } from '../wrapped-decisions.ts';
import { app, ask, codeOf, lives, noise, outages, redeem, tokensOf } from './code-flow-requests.ts';
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

  it('costs one transaction for a code, one for its tokens and one for whose they are', async () => {
    const person = await newPerson(await newBox());
    const counts: number[] = [];
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      const before = world.taken();
      const result = await work;
      counts.push(world.taken() - before);
      return result;
    };
    const code = await counted(codeOf(two, person));
    const tokens = await counted(tokensOf(two, person, code));
    expect(await counted(lives(two, person, tokens))).to.equal(true);
    expect(tokens).to.have.all.keys('access_token', 'token_type', 'scope', 'id_token');
    expect(counts).to.deep.equal([1, 1, 1]);
  });

  it('loses no code when something else of the box moved', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(two, person);
    await world.declare(person.box, noise);
    const tokens = await tokensOf(two, person, code);
    expect(tokens).to.have.all.keys('access_token', 'token_type', 'scope', 'id_token');
    expect(await lives(two, person, tokens)).to.equal(true);
  });

  it('leaves a code unused whose tokens cannot be made', async () => {
    const box = await newBox();
    const person = await newPerson(box);
    await world.declare(box, { ...app, first_party: true, id_token_claims: ['profile'] });
    const code = await codeOf(one, person, { scope: 'openid profile' });
    const setName = (name: string) =>
      world.owner.query('UPDATE boxgate.user SET data = $3 WHERE box = $1 AND id = $2', [
        box,
        person.user,
        JSON.stringify({ name }),
      ]);
    await setName('x'.repeat(20_000));
    expect(await redeem(one, person, code)).to.equal('invalid_scope');
    const stored = 'SELECT used_at FROM boxgate.authorization_code WHERE box = $1 AND used_at IS NULL';
    expect((await world.owner.query(stored, [box])).rowCount).to.equal(1);
    await setName('Ann');
    expect(await lives(two, person, await tokensOf(two, person, code))).to.equal(true);
  });

  it('gives no code once the sign-in has expired', async () => {
    const person = await newPerson(await newBox());
    await world.owner.query('UPDATE boxgate.sign_in SET expires_at = to_timestamp($2 / 1000.0) WHERE box = $1', [
      person.box,
      one.now(),
    ]);
    expect((await ask(one, person)).next).to.equal('sign-in');
  });

  it('refuses the answer to a consent page if another user has signed in than the client expects', async () => {
    const box = await newBox();
    const [person, other] = [await newPerson(box), await newPerson(box)];
    const { id_token } = await tokensOf(one, person, await codeOf(one, person));
    const step = await ask(one, person, { prompt: 'consent', id_token_hint: id_token });
    if (step.next !== 'consent') throw new Error(`no consent page but ${step.next}`);
    await world.owner.query('UPDATE boxgate.sign_in SET user_id = $3 WHERE box = $1 AND user_id = $2', [
      box,
      person.user,
      other.user,
    ]);
    const visit = { box, browser: person.browser, remoteAddr: null, userAgent: null };
    const next = await answerConsent(visit, { id: step.id, answer: 'allow', shown: undefined }, one);
    if (next?.next !== 'client') throw new Error(`no answer to the client but ${String(next?.next)}`);
    expect(new URL(next.answer.address).searchParams.get('error')).to.equal('login_required');
  });

  it('redeems a code for 60 seconds, and not a moment longer', async () => {
    const person = await newPerson(await newBox());
    const [young, old] = [await codeOf(one, person), await codeOf(one, person)];
    world.clock.now += 59_999;
    await tokensOf(one, person, young);
    world.clock.now += 1;
    expect(await redeem(one, person, old)).to.equal('invalid_grant');
  });

  it('T-20 gives nothing to a second use of a code, and revokes what another replica gave to the first', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const tokens = await tokensOf(two, person, code);
    expect(await redeem(one, person, code)).to.equal('invalid_grant');
    expect(await lives(two, person, tokens)).to.equal(false);
    expect(world.takeRecords().map(({ event }) => event)).to.contain('code.reused');
  });

  it('reports no theft of a code that ended with its sign-in, and comes for the first time', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    await signOut(one, person.box, person.browser);
    expect(await redeem(one, person, code)).to.equal('invalid_grant');
    expect(world.takeRecords().map(({ event }) => event)).not.to.contain('code.reused');
  });

  it('T-20 revokes what the first use gave also in a box that changes so often that it decides under the lock', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const tokens = await tokensOf(one, person, code);
    const client = { kind: 'Client', id: 'noise', grant_types: ['client_credentials'] } as const;
    const services = decidingUnderLock(one, (name) => world.declare(person.box, { ...client, name }));
    expect(await redeem(services, person, code)).to.equal('invalid_grant');
    expect(await lives(two, person, tokens)).to.equal(false);
  });

  it('T-20 lets one of a hundred uses at once on two replicas win, and revokes what it got', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const before = outages.count;
    const uses = Array.from({ length: 100 }, (_, index) => redeem(index % 2 === 0 ? one : two, person, code));
    const replies = await Promise.all(uses);
    const won = replies.filter((reply) => typeof reply === 'object');
    // When Postgres was too busy for the answer to the first use, that use comes a second time.
    expect(won.length).to.be.within(outages.count > before ? 0 : 1, 1);
    expect(replies.filter((reply) => reply === 'invalid_grant')).to.have.length(100 - won.length);
    for (const tokens of won) expect(await lives(one, person, tokens)).to.equal(false);
  });
});

import argon2 from 'argon2';
import { expect } from 'chai';
import { argon2Parameters, createHashQueue } from '../../api/credentials/hash-queue.ts';
import { Outage } from '../../api/db/core/outage.ts';
import { Problem } from '../../api/problem.ts';

/** Quick on purpose: these tests are about turns, not about strength. */
const cheap = await argon2.hash('right', { memoryCost: 64, timeCost: 1, parallelism: 1 });

/** As costly as the hashes that the queue makes. */
const equal = await argon2.hash('x', argon2Parameters);

describe('the queue of secrets to be hashed', () => {
  it('makes argon2id hashes with the parameters of OWASP', async () => {
    const phc = await createHashQueue(1, 1).hash('a secret');
    expect(phc).to.match(/^\$argon2id\$v=19\$/);
    expect(argon2.needsRehash(phc, argon2Parameters)).to.equal(false);
    expect(argon2Parameters).to.deep.include({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  });

  it('tells the right secret from a wrong one', async () => {
    const queue = createHashQueue(1, 4);
    expect(await queue.verify(cheap, 'right')).to.equal(true);
    expect(await queue.verify(cheap, 'wrong')).to.equal(false);
  });

  const uncomputable = {
    'with too little memory': '$argon2id$v=19$m=1,t=1,p=4$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'cut short': '$argon2id$v=19',
    'of nothing at all': 'nonsense',
  };
  for (const [what, phc] of Object.entries(uncomputable)) {
    it(`lets no secret fit a hash ${what}, and goes on`, async () => {
      const queue = createHashQueue(1, 4);
      expect(await queue.verify(phc, 'right')).to.equal(false);
      expect(await queue.verify(cheap, 'right')).to.equal(true);
    });
  }

  it('T-12 refuses a verification at once when as many wait as it has places, and is open again afterwards', async () => {
    const queue = createHashQueue(2, 8);
    const answers = await Promise.allSettled(Array.from({ length: 30 }, () => queue.verify(cheap, 'wrong')));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(answers.length - refused.length).to.equal(2 + 8);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Outage);
    expect(queue.depth).to.equal(0);
    expect(await queue.verify(cheap, 'right')).to.equal(true);
  });

  it('T-12 refuses a verification that waited too long, and only that one', async () => {
    const queue = createHashQueue(1, 8, 1);
    // As costly as a hash from elsewhere may be: several hundred milliseconds.
    const costly = '$argon2id$v=19$m=65536,t=5,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const running = queue.verify(costly, 'x');
    const waiting = await Promise.allSettled([queue.verify(cheap, 'right'), queue.verify(cheap, 'wrong')]);
    for (const answer of waiting) {
      expect(answer.status).to.equal('rejected');
      expect('reason' in answer && answer.reason).to.be.instanceOf(Outage);
    }
    expect(queue.depth).to.equal(1);
    expect(await running).to.equal(false);
    expect(queue.depth).to.equal(0);
    expect(await queue.verify(cheap, 'right')).to.equal(true);
  });

  it('T-12 takes a verification while a thread is free, also when nobody may wait', async () => {
    const queue = createHashQueue(1, 0);
    expect(await queue.verify(cheap, 'right')).to.equal(true);
    const two = await Promise.allSettled([queue.verify(cheap, 'right'), queue.verify(cheap, 'right')]);
    expect(two.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
  });

  it('R-03 serves the addresses of a box in turn, however many texts of one of them wait', async () => {
    const queue = createHashQueue(1, 50);
    const order: string[] = [];
    const verify = async (member: string): Promise<void> => {
      await queue.verify(cheap, 'wrong', { sharer: { box: 'shop', member } });
      order.push(member);
    };
    await Promise.all([...Array.from({ length: 8 }, () => verify('stranger')), verify('quiet')]);
    // One runs already, and of two that have had nothing yet either may be first.
    expect(order.indexOf('quiet')).to.be.at.most(2);
  });

  it('R-03 takes the place of a box that waits most for a newcomer of another one', async () => {
    const queue = createHashQueue(1, 4);
    const many = Promise.allSettled(
      Array.from({ length: 5 }, () => queue.verify(cheap, 'wrong', { sharer: { box: 'busy', member: 'a' } })),
    );
    expect(await queue.verify(cheap, 'right', { sharer: { box: 'quiet', member: 'a' } })).to.equal(true);
    const reasons = (await many).flatMap((one) => (one.status === 'rejected' ? [one.reason instanceof Problem] : []));
    expect(reasons).to.deep.equal([true]);
    expect(queue.refusals()).to.deep.equal(new Map([['busy', 1]]));
  });

  it('never runs more at once than it has threads', async () => {
    const queue = createHashQueue(1, 50);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        await queue.verify(cheap, 'wrong');
        order.push(index);
      }),
    );
    // With one thread the first come is the first done; with more it would be chance.
    expect(order).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('serves an apply and requests by turns: a large apply holds up no request, a flood of requests no apply', async () => {
    const queue = createHashQueue(1, 100, 60_000);
    const done: string[] = [];
    const hashes = Array.from({ length: 30 }, () =>
      queue.hash('x', { box: 'one', member: 'apply' }).then(() => done.push('hash')),
    );
    const verifications = Array.from({ length: 30 }, () =>
      queue.verify(equal, 'x', { sharer: { box: 'two', member: 'a' } }).then(() => done.push('verify')),
    );
    await Promise.all([...hashes, ...verifications]);
    // Turns go by time: where one computation took long, many of the other side follow it.
    expect(done.indexOf('hash'), done.join(' ')).to.be.below(done.lastIndexOf('verify'));
    expect(done.indexOf('verify'), done.join(' ')).to.be.below(done.lastIndexOf('hash'));
  });

  it('never refuses to hash: whoever applies ten thousand clients waits as long as it takes', async () => {
    const queue = createHashQueue(2, 0);
    expect(await Promise.all(Array.from({ length: 6 }, () => queue.hash('x')))).to.have.length(6);
  });
});

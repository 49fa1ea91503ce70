import argon2 from 'argon2';
import { expect } from 'chai';
import { argon2Parameters, createHashQueue } from '../../api/credentials/hash-queue.ts';
import { Outage } from '../../api/db/outage.ts';

/** Quick on purpose: these tests are about turns, not about strength. */
const cheap = await argon2.hash('right', { memoryCost: 64, timeCost: 1, parallelism: 1 });

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

  it('T-12 gives a place to who tried less often than somebody who waits, and a turn before all who tried more often', async () => {
    const queue = createHashQueue(1, 2);
    const events: string[] = [];
    const verify = (name: string, tries: number) =>
      queue.verify(cheap, 'wrong', { tries }).then(
        () => events.push(`${name} verified`),
        () => events.push(`${name} refused`),
      );
    await Promise.all([
      verify('running', 9),
      verify('three', 3),
      verify('five', 5),
      verify('none', 0),
      verify('seven', 7),
    ]);
    expect(events).to.have.members([
      'running verified',
      'three verified',
      'five refused',
      'none verified',
      'seven refused',
    ]);
    expect(events.filter((event) => event.endsWith('verified'))).to.deep.equal([
      'running verified',
      'none verified',
      'three verified',
    ]);
  });

  it('T-12 lets no more texts be verified against one hash at once than it is told, whoever asks', async () => {
    const queue = createHashQueue(1, 50);
    const other = await argon2.hash('other', { memoryCost: 64, timeCost: 1, parallelism: 1 });
    const many = Promise.allSettled(Array.from({ length: 9 }, () => queue.verify(cheap, 'wrong', { mostOfOne: 3 })));
    expect(await queue.verify(other, 'other', { mostOfOne: 3 })).to.equal(true);
    const statuses = (await many).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'fulfilled')).to.have.length(3);
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

  it('serves stored and sent secrets by turns: a large apply holds up no request, a flood of requests no apply', async () => {
    const queue = createHashQueue(1, 50);
    const done: string[] = [];
    const note = (what: string) => () => done.push(what);
    const hashes = Array.from({ length: 5 }, () => queue.hash('x').then(note('hash')));
    const verifications = Array.from({ length: 4 }, () => queue.verify(cheap, 'wrong').then(note('verify')));
    await Promise.all([...hashes, ...verifications]);
    expect(done.join(' ')).to.equal('hash verify hash verify hash verify hash verify hash');
  });

  it('never refuses to hash: whoever applies ten thousand clients waits as long as it takes', async () => {
    const queue = createHashQueue(2, 0);
    expect(await Promise.all(Array.from({ length: 6 }, () => queue.hash('x')))).to.have.length(6);
  });
});

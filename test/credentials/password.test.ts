import argon2 from 'argon2';
import { expect } from 'chai';
import { argon2Parameters, createHashQueue } from '../../api/credentials/hash-queue.ts';
import { createPasswords } from '../../api/credentials/password.ts';
import { Outage } from '../../api/db/core/outage.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

describe('the password of a user', () => {
  const queue = createHashQueue(2, 100);
  const passwords = createPasswords(queue, [first]);

  it('U-05 is stored as argon2id with the parameters of OWASP, and with a pepper: the text alone does not fit', async () => {
    const stored = await passwords.store('correct horse');
    expect(stored.hash).to.match(/^\$argon2id\$v=19\$m=19456,/);
    expect(argon2.needsRehash(stored.hash, argon2Parameters)).to.equal(false);
    expect(await argon2.verify(stored.hash, 'correct horse')).to.equal(false);
    expect(await passwords.verify(stored, 'correct horse')).to.equal(true);
    expect(await passwords.verify(stored, 'correct horsf')).to.equal(false);
  });

  it('has a salt of its own', async () => {
    const [one, two] = await Promise.all([passwords.store('x'), passwords.store('x')]);
    expect(one.hash).not.to.equal(two.hash);
  });

  it('is nobody’s where there is no user, whatever it is', async () => {
    expect(await passwords.verify(undefined, 'x')).to.equal(false);
    expect(await passwords.verify(undefined, '')).to.equal(false);
  });

  it('is not cut off: a long one counts to its end', async () => {
    const long = 'a'.repeat(1000);
    const stored = await passwords.store(`${long}b`);
    expect(await passwords.verify(stored, `${long}c`)).to.equal(false);
    expect(await passwords.verify(stored, long)).to.equal(false);
  });

  it('is the same however the keyboard writes its accents', async () => {
    const stored = await passwords.store('caf\u00e9');
    expect(await passwords.verify(stored, 'cafe\u0301')).to.equal(true);
    expect(await passwords.verify(stored, 'cafe')).to.equal(false);
  });

  it('fits on while the installation’s key is changed, and no more when the old key is gone', async () => {
    const stored = await passwords.store('x');
    const both = createPasswords(queue, [second, first]);
    expect(await both.verify(stored, 'x')).to.equal(true);
    const again = await both.store('x');
    expect(again.pepper).not.to.equal(stored.pepper);
    const after = createPasswords(queue, [second]);
    expect([await after.verify(again, 'x'), await after.verify(stored, 'x')]).to.deep.equal([true, false]);
  });

  it('shows nothing of the key in the name of its pepper', async () => {
    const { pepper } = await passwords.store('x');
    expect(pepper).to.match(/^[0-9a-f]{16}$/);
    expect(first.toString('hex')).not.to.include(pepper);
  });

  it('U-09 is refused at once when too many wait to be hashed, and is hashed again afterwards', async () => {
    const small = createPasswords(createHashQueue(1, 2), [first]);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => small.store('x')));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(answers.length - refused.length).to.equal(1 + 2);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Outage);
    expect((await small.store('x')).hash).to.match(/^\$argon2id\$/);
  });
});

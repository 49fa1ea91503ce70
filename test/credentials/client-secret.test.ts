import argon2 from 'argon2';
import { expect } from 'chai';
import { createClientSecrets, generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { ClientSecrets } from '../../api/credentials/client-secret.ts';
import { createHashQueue } from '../../api/credentials/hash-queue.ts';
import { Problem } from '../../api/problem.ts';

describe('the secrets of clients', () => {
  const queue = createHashQueue(2, 100);
  let verifications = 0;
  let secrets: ClientSecrets;

  beforeEach(() => {
    verifications = 0;
    secrets = createClientSecrets({
      ...queue,
      async verify(phc, text, options) {
        const fits = await queue.verify(phc, text, options);
        verifications += 1;
        return fits;
      },
    });
  });

  /** Checks whether a secret is one of the stored secrets. */
  async function fits(stored: readonly string[], secret: string): Promise<boolean> {
    return (await secrets.verify(stored, secret)) !== undefined;
  }

  it('are stored as SHA-256 when they were generated', async () => {
    expect(await secrets.store(generateClientSecret())).to.match(/^\$sha256\$[0-9a-f]{64}$/);
  });

  it('are stored as argon2id when they were chosen', async () => {
    expect(await secrets.store('a chosen secret')).to.match(/^\$argon2id\$v=19\$m=19456,/);
  });

  it('are stored as they are when they are argon2id hashes already', async () => {
    const phc = await argon2.hash('moved from elsewhere', { memoryCost: 1024 });
    expect(await secrets.store(phc)).to.equal(phc);
    expect(await fits([phc], 'moved from elsewhere')).to.equal(true);
    expect(await fits([phc], phc)).to.equal(false);
  });

  for (const [kind, secret] of [
    ['generated', generateClientSecret()],
    ['chosen', 'a chosen secret'],
    ['chosen one with colons and a percent sign', 'a:b%3Ac'],
  ] as const) {
    it(`are right or wrong when ${kind}`, async () => {
      const stored = await secrets.store(secret);
      expect(await fits([stored], secret)).to.equal(true);
      for (const wrong of [`${secret} `, secret.slice(1), secret.toUpperCase(), '', stored, generateClientSecret()]) {
        expect(await fits([stored], wrong)).to.equal(false);
      }
    });
  }

  it('count side by side while one is being rotated', async () => {
    const [old, young] = [generateClientSecret(), 'a chosen secret'];
    const stored = [await secrets.store(old), await secrets.store(young)];
    expect(await fits(stored, old)).to.equal(true);
    expect(await fits(stored, young)).to.equal(true);
    expect(await fits(stored.slice(1), old)).to.equal(false);
    expect([await secrets.verify(stored, old), await secrets.verify(stored, young)]).to.deep.equal(stored);
  });

  it('are none of nobody: an empty list fits nothing, not even nothing', async () => {
    for (const sent of ['', generateClientSecret(), 'x']) expect(await fits([], sent)).to.equal(false);
  });

  it('cost argon2 once while they stay the same', async () => {
    const stored = await secrets.store('a chosen secret');
    for (let count = 0; count < 5; count += 1) expect(await fits([stored], 'a chosen secret')).to.equal(true);
    expect(verifications).to.equal(1);
  });

  it('cost argon2 once when many requests bring the right one together', async () => {
    const stored = await secrets.store('a chosen secret');
    const answers = await Promise.all(Array.from({ length: 300 }, () => fits([stored], 'a chosen secret')));
    expect(answers.every(Boolean)).to.equal(true);
    expect(verifications).to.equal(1);
  });

  it('cost argon2 again once they were stored again, also with the same text', async () => {
    const before = await secrets.store('a chosen secret');
    const after = await secrets.store('a chosen secret');
    await secrets.verify([before], 'a chosen secret');
    await secrets.verify([after], 'a chosen secret');
    expect(verifications).to.equal(2);
  });

  it('are remembered only when right: a wrong one costs argon2 each time, and never becomes right', async () => {
    const stored = await secrets.store('a chosen secret');
    expect(await fits([stored], 'a chosen secret')).to.equal(true);
    for (let count = 0; count < 3; count += 1) expect(await fits([stored], 'another')).to.equal(false);
    expect(verifications).to.equal(4);
  });

  it('the limits on one request do not refuse others that send the same secret at the same time', async () => {
    const chosen = await secrets.store('a chosen secret');
    const limits = (begin: () => Promise<{ box: string; member: string }>) => {
      return { isHeldBack: false, begin, recognized: () => undefined };
    };
    const refused = secrets.verify(
      [chosen],
      'a chosen secret',
      limits(() => Promise.reject(new Problem('throttled', 'later'))),
    );
    let begun = 0;
    const admitted = Array.from({ length: 3 }, () => {
      const begin = (): Promise<{ box: string; member: string }> => {
        begun += 1;
        return Promise.resolve({ box: 'shop', member: 'quiet' });
      };
      return secrets.verify([chosen], 'a chosen secret', limits(begin));
    });
    expect(await refused.catch((error: unknown) => error)).to.be.instanceOf(Problem);
    expect(await Promise.all(admitted)).to.deep.equal([chosen, chosen, chosen]);
    expect(begun).to.equal(1);
  });

  it('R-03 guesses of one address at a client keep out neither its right secret from elsewhere nor other clients', async () => {
    const narrow = createClientSecrets(createHashQueue(1, 16));
    const [attacked, other] = [await narrow.store('a chosen secret'), await narrow.store('another one')];
    const from = (member: string) => ({
      isHeldBack: false,
      begin: () => Promise.resolve({ box: 'shop', member }),
      recognized: () => undefined,
    });
    const guesses = Array.from({ length: 50 }, (_, nth) =>
      narrow.verify([attacked], `guess ${String(nth)}`, from('stranger')),
    );
    const settled = Promise.allSettled(guesses);
    expect(await narrow.verify([attacked], 'a chosen secret', from('quiet'))).to.equal(attacked);
    expect(await narrow.verify([other], 'another one', from('quiet'))).to.equal(other);
    const refused = (await settled).filter(({ status }) => status === 'rejected');
    expect(refused.length).to.be.within(1, 49);
  });
});

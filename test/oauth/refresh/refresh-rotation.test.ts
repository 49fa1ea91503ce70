import { expect } from 'chai';
import { parseRefreshToken, refreshTokenText } from '../../../api/credentials/refresh-token-text.ts';
import { rotationGrace } from '../../../api/oauth/refresh/validate-refresh.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { familyOf, makeRefreshWorld, succeeded } from '../refresh-world.ts';
import type { RefreshWorld } from '../refresh-world.ts';
import { decidingUnderLock } from '../wrapped-decisions.ts';
import { patiently } from '../world.ts';

const day = 86_400_000;

describe('the refresh token of a client that rotates', () => {
  const start = Date.now();
  let world: RefreshWorld;

  before(async () => {
    world = await makeRefreshWorld();
  });
  after(() => world.end());
  beforeEach(() => {
    world.clock.now = start;
  });

  const begin = (...args: Parameters<RefreshWorld['begin']>) => world.begin(...args);
  const use = (...args: Parameters<RefreshWorld['use']>) => world.use(...args);
  const lives = (text: string | undefined) => world.lives(text);

  it('gives a successor with each use', async () => {
    const first = await begin('rotating');
    const second = succeeded(await use(first.refresh_token, 'rotating'));
    const third = succeeded(await use(second.refresh_token, 'rotating'));
    const texts = [first, second, third].map(({ refresh_token }) => refresh_token);
    expect(new Set(texts).size).to.equal(3);
    expect(texts.map((text) => parseRefreshToken(text ?? '')?.generation)).to.deep.equal([0, 1, 2]);
  });

  it('T-40 I3: has one successor for a hundred uses at once, on two replicas', async () => {
    const { refresh_token } = await begin('rotating');
    const replicas = [world.services, world.replica()];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        patiently(() => use(refresh_token, 'rotating', { services: replicas[index % 2] ?? world.services })),
      ),
    );
    const successors = new Set(answers.map((answer) => succeeded(answer).refresh_token));
    expect(successors.size).to.equal(1);
    const { rows } = await world.owner.query('SELECT generation FROM boxgate.refresh_family WHERE id = $1', [
      familyOf(refresh_token),
    ]);
    expect(rows).to.deep.equal([{ generation: 1 }]);
    // No second branch: the one successor goes on, and once it has, its predecessor ends everything.
    const [successor] = successors;
    const third = succeeded(await use(successor, 'rotating'));
    expect(await use(refresh_token, 'rotating')).to.equal('invalid_grant');
    expect(await use(third.refresh_token, 'rotating')).to.equal('invalid_grant');
  });

  it('T-40 gives the same successor again within the grace, also on another replica', async () => {
    const { refresh_token } = await begin('rotating');
    const given = succeeded(await use(refresh_token, 'rotating'));
    world.clock.now = start + rotationGrace;
    const again = succeeded(await use(refresh_token, 'rotating', { services: world.replica() }));
    expect(again.refresh_token).to.equal(given.refresh_token);
    expect(again.access_token).not.to.equal(given.access_token);
  });

  it('T-41 ends the family and its access tokens when one is used again after the grace, and says so', async () => {
    const first = await begin('rotating');
    const second = succeeded(await use(first.refresh_token, 'rotating'));
    world.takeRecords();
    world.clock.now = start + rotationGrace + 1;
    expect(await use(first.refresh_token, 'rotating')).to.equal('invalid_grant');
    const records = world.takeRecords().map(({ box, event, client, target }) => [box, event, client, target]);
    expect(records).to.deep.equal([['default', 'refresh_token.reused', 'rotating', 'Client/rotating']]);
    expect(await use(second.refresh_token, 'rotating')).to.equal('invalid_grant');
    for (const { access_token } of [first, second]) expect(await lives(access_token)).to.equal(false);
    const { rows } = await world.owner.query('SELECT DISTINCT ended_as FROM boxgate.session WHERE family = $1', [
      familyOf(first.refresh_token),
    ]);
    expect(rows).to.deep.equal([{ ended_as: 'revoked' }]);
  });

  it('T-41 ends the family also in a box that changes so often that it decides under the lock', async () => {
    const first = await begin('rotating');
    const second = succeeded(await use(first.refresh_token, 'rotating'));
    world.clock.now = start + rotationGrace + 1;
    const client = { kind: 'Client', id: 'noise', grant_types: ['client_credentials'] } as const;
    const services = decidingUnderLock(world.services, (name) => world.declare('default', { ...client, name }));
    expect(await use(first.refresh_token, 'rotating', { services })).to.equal('invalid_grant');
    expect(await use(second.refresh_token, 'rotating')).to.equal('invalid_grant');
    for (const { access_token } of [first, second]) expect(await lives(access_token)).to.equal(false);
  });

  it('T-41 ends nothing for the guess of a stranger, however old the generation it names', async () => {
    const first = await begin('rotating');
    const second = succeeded(await use(first.refresh_token, 'rotating'));
    world.clock.now = start + rotationGrace + 1;
    const named = parseRefreshToken(first.refresh_token ?? '');
    const guess =
      named && refreshTokenText({ ...named, familySecret: Buffer.alloc(16), tokenSecret: Buffer.alloc(32) });
    expect(await use(guess, 'rotating')).to.equal('invalid_grant');
    succeeded(await use(second.refresh_token, 'rotating'));
  });

  const detections: Record<string, () => OAuthServices> = {
    'within the same millisecond': () => world.services,
    'after the process was restarted': () => world.replica(),
    'under a clock that went back': () => {
      world.clock.now = start - day;
      return world.replica();
    },
  };
  for (const [when, servicesThen] of Object.entries(detections)) {
    it(`T-42 detects the use of a token before the last one ${when}`, async () => {
      const first = await begin('rotating');
      const second = succeeded(await use(first.refresh_token, 'rotating'));
      const third = succeeded(await use(second.refresh_token, 'rotating'));
      const services = servicesThen();
      expect(await use(first.refresh_token, 'rotating', { services })).to.equal('invalid_grant');
      expect(await use(third.refresh_token, 'rotating', { services })).to.equal('invalid_grant');
    });
  }
});

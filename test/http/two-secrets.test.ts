import { expect } from 'chai';
import pg from 'pg';
import type { DeclareLine } from '../../api/client/desired-state.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { NEVER } from '../../crds/duration.ts';
import { textOf } from '../oauth/requests.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { declaredBox } from './declared-box.ts';
import type { DeclaredBox } from './declared-box.ts';

const later = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
const hour = 3_600_000;

describe('a client with two secrets', () => {
  let api: TestApi;
  let owner: pg.Pool;
  let box: DeclaredBox;
  let boxes = 0;

  before(async () => {
    api = await startApi({
      environment: { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' },
    });
    owner = new pg.Pool({ connectionString: api.database.ownerUrl });
  });
  after(async () => {
    await owner.end();
    await api.stop();
  });
  beforeEach(async () => {
    boxes += 1;
    box = await declaredBox(api, `two-${String(boxes)}`);
  });

  const status = async (secret: string) => (await box.token('app', secret)).status;

  /**
   * Declares a previous secret, in one call after the other, that counts until soon, and sees that it counts: for
   * longer on a machine on which it was over before it could be used.
   */
  async function inTime(lines: (until: string) => readonly DeclareLine[], previous: string): Promise<void> {
    for (let time = 2_000; ; time *= 2) {
      const until = later(time);
      for (const line of lines(until)) await box.apply([line]);
      const found = await status(previous);
      if (found === 200) return;
      if (Date.now() < Date.parse(until)) expect(found, 'before its time is over').to.equal(200);
    }
  }

  for (const [what, present, previous] of [
    ['generated', generateClientSecret(), generateClientSecret()],
    ['chosen', 'a chosen secret', 'the one before it'],
  ] as const) {
    describe(`that are ${what}`, () => {
      it('gets tokens with both, and with no other', async () => {
        await box.apply([box.client('app', present, { previous: { secret: previous, until: later(hour) } })]);
        expect([await status(present), await status(previous), await status(`${present}x`)]).to.deep.equal([
          200, 200, 401,
        ]);
        // Again: from memory, where the first verification was slow.
        expect([await status(present), await status(previous)]).to.deep.equal([200, 200]);
      });

      it('is refused with the previous one once that is no longer declared, also where it was remembered', async () => {
        await box.apply([box.client('app', present, { previous: { secret: previous, until: later(hour) } })]);
        expect(await status(previous)).to.equal(200);
        await box.apply([box.client('app', present)]);
        expect([await status(present), await status(previous)]).to.deep.equal([200, 401]);
      });

      it('is refused with the previous one from its time on, without another call', async () => {
        await inTime((until) => [box.client('app', present, { previous: { secret: previous, until } })], previous);
        await eventually('it is refused', async () => (await status(previous)) === 401);
        // E-21. A chosen one is not compared: that would take argon2 once more.
        const [, reason] =
          /"reason":"(\w+)"/.exec(api.logLines.findLast((line) => line.includes('"reason"')) ?? '') ?? [];
        expect(reason).to.equal(what === 'generated' ? 'retired_secret' : 'wrong_secret');
        expect(await status(present)).to.equal(200);
      });
    });
  }

  it('stores no previous secret whose time is over', async () => {
    await box.apply([box.client('app', 'present', { previous: { secret: 'previous', until: later(-1) } })]);
    expect(await status('previous')).to.equal(401);
  });

  it('stores a hash of it, a fast one of a generated secret', async () => {
    const previous = generateClientSecret();
    await box.apply([box.client('app', 'present', { previous: { secret: previous, until: later(hour) } })]);
    const { rows } = await owner.query<{ previous: string }>(
      'SELECT previous_secret AS previous FROM boxgate.resource WHERE box = $1',
      [box.box],
    );
    expect(rows[0]?.previous).to.match(/^\$sha256\$[0-9a-f]{64}$/);
  });

  it('keeps both while nobody knows its secret', async () => {
    await box.apply([box.client('app', 'present', { previous: { secret: 'previous', until: later(hour) } })]);
    await box.apply([box.client('app', undefined)]);
    expect([await status('present'), await status('previous')]).to.deep.equal([200, 200]);
  });

  describe('whose declarer has forgotten the one before', () => {
    const [first, second, third] = [generateClientSecret(), generateClientSecret(), generateClientSecret()];
    const forgotten = () => ({ previous: { until: later(hour) } });
    const statuses = (...secrets: readonly string[]) => Promise.all(secrets.map(status));

    it('keeps the one that is stored beside the new one, however often that is said', async () => {
      await box.apply([box.client('app', first)]);
      await box.apply([box.client('app', second, forgotten())]);
      await box.apply([box.client('app', second, forgotten(), { name: 'App' })]);
      expect(await statuses(first, second)).to.deep.equal([200, 200]);
      await box.apply([box.client('app', second)]);
      expect(await statuses(first, second)).to.deep.equal([401, 200]);
    });

    it('keeps the last one of several', async () => {
      await box.apply([box.client('app', first)]);
      await box.apply([box.client('app', second, forgotten())]);
      await box.apply([box.client('app', third, forgotten())]);
      expect(await statuses(first, second, third)).to.deep.equal([401, 200, 200]);
    });

    it('keeps the one that applications have, where the present one was shown to nobody yet', async () => {
      await box.apply([box.client('app', first)]);
      await box.apply([box.client('app', second, { previous: { secret: first, until: NEVER } })]);
      for (const round of [1, 2]) {
        await box.apply([box.client('app', third, forgotten())]);
        expect(await statuses(first, second, third), String(round)).to.deep.equal([200, 401, 200]);
      }
    });

    it('does not keep one that was chosen: whoever takes a generated one instead wants it gone', async () => {
      await box.apply([box.client('app', 'chosen')]);
      await box.apply([box.client('app', second, forgotten())]);
      expect(await statuses('chosen', second)).to.deep.equal([401, 200]);
    });

    it('is refused with that one from its time on', async () => {
      await inTime((until) => [box.client('app', first), box.client('app', second, { previous: { until } })], first);
      await eventually('it is refused', async () => (await status(first)) === 401);
      expect(await status(second)).to.equal(200);
    });

    it('has no other one where none was stored', async () => {
      await box.apply([box.client('app', first, forgotten())]);
      await box.apply([box.client('app', first, forgotten())]);
      const { rows } = await owner.query<object>(
        'SELECT previous_secret, previous_until FROM boxgate.resource WHERE box = $1',
        [box.box],
      );
      expect(rows).to.deep.equal([{ previous_secret: null, previous_until: null }]);
    });

    it('does not keep that of an owner before', async () => {
      await box.apply([box.client('app', first)]);
      const owned = { owner: { name: `${box.box}/app`, uid: 'another' } };
      await box.apply([box.client('app', second, { ...owned, ...forgotten() })]);
      expect(await statuses(first, second)).to.deep.equal([401, 200]);
    });

    it('is told beside a chosen one, of which nobody knows whether it is stored already', async () => {
      await box.apply([box.client('app', first)]);
      expect(await box.verdicts([box.client('app', 'chosen', forgotten())])).to.equal('invalid');
      expect(await status(first)).to.equal(200);
    });
  });

  for (const [what, previous] of [
    ['a time that is none', { secret: 'previous', until: 'soon' }],
    ['a secret that no client could send', { secret: 'line\nbreak', until: later(hour) }],
  ] as const) {
    it(`refuses ${what}, and keeps what is stored`, async () => {
      await box.apply([box.client('app', 'present')]);
      expect(await box.verdicts([box.client('app', 'other', { previous })])).to.equal('invalid');
      expect(await status('present')).to.equal(200);
    });
  }

  it('ends no session when a secret comes or goes', async () => {
    await box.apply([box.client('app', 'one')]);
    const token = textOf(await box.token('app', 'one'), 'access_token');
    await box.apply([box.client('app', 'two', { previous: { secret: 'one', until: later(hour) } })]);
    await box.apply([box.client('app', 'two')]);
    expect((await box.introspect('app', 'two', token)).body['active']).to.equal(true);
  });
});

import { expect } from 'chai';
import pg from 'pg';
import { generateClientSecret } from '../../api/credentials/secret-text.ts';
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
        await box.apply([box.client('app', present, { previous: { secret: previous, until: later(4_000) } })]);
        const first = await status(previous);
        await eventually('it is refused', async () => (await status(previous)) === 401);
        expect([first, await status(present)]).to.deep.equal([200, 200]);
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

  it('takes the previous one back while the present one is kept', async () => {
    await box.apply([box.client('app', 'present', { previous: { secret: 'previous', until: later(hour) } })]);
    await box.apply([box.client('app', undefined)]);
    expect([await status('present'), await status('previous')]).to.deep.equal([200, 401]);
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

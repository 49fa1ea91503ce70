import { expect } from 'chai';
import { countRound } from '../../../api/write-usage.ts';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { parseAccessToken } from '../../../api/credentials/token-text.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { storeQuota } from '../../../api/db/box/box-use.ts';
import { isQuotaReached } from '../../../api/db/box/session-count.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { endSession } from '../../../api/oauth/session/end-session.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import { OAuthError } from '../../../api/oauth/oauth-error.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { createUsageNotes } from '../../../api/box/notes.ts';
import type { UsageNotes } from '../../../api/box/notes.ts';
import { createLog } from '../../../program/log.ts';
import { basic } from '../requests.ts';
import { formRequest, makeWorld, outcome } from '../world.ts';
import type { World } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

const secret = generateClientSecret();
const running = new AbortController().signal;

interface Replica {
  readonly services: OAuthServices;
  readonly notes: UsageNotes;
}

describe('the quota of active sessions', () => {
  let world: World;
  let one: Replica;
  let other: Replica;
  let box = '';
  let boxes = 0;
  const log = createLog('error', process.stderr);

  before(async () => {
    world = await makeWorld();
    [one, other] = [replica(), replica()];
  });
  after(() => world.end());
  beforeEach(async () => {
    world.clock.now = Date.now();
    boxes += 1;
    box = `full-${String(boxes)}`;
    const settings = { access_token_expiration: 600 };
    const forms = { app: settings, refreshing: { ...settings, refresh_token: true } };
    for (const [id, client_credentials] of Object.entries(forms)) {
      const auth = { client_credentials };
      await world.declare(box, { kind: 'Client', id, secret, grant_types: ['client_credentials'], auth });
    }
    await quota(3);
  });

  function replica(): Replica {
    const notes = createUsageNotes();
    return { services: { ...world.replica(), usage: notes }, notes };
  }

  /** Sets the quota as an apply call does. */
  async function quota(sessions: number): Promise<void> {
    await inBox(world.services.pool, box, 'write', async (connection) => {
      await bumpVersion(connection, box);
      await storeQuota(connection, box, { sessions });
    });
  }

  /** One round of the background work of a replica, when the last count is a while ago. */
  async function round(of = one): Promise<void> {
    await world.owner.query(`UPDATE boxgate.session_count SET counted_at = counted_at - interval '1 minute'`);
    const { services, notes } = of;
    await countRound({ pool: services.pool, notes, now: services.now, log }, running);
  }

  function request(of: Replica, id: string, fields: Readonly<Record<string, string>> = {}): Promise<TokenResponse> {
    const form = formRequest(
      { grant_type: 'client_credentials', ...fields },
      { box, authorization: basic(id, secret) },
    );
    return token(form, of.services, NO_CHECKS).then((answer) => answer ?? expect.fail('there is no such box'));
  }

  const get = (of = one, id = 'app') => outcome(request(of, id));

  async function got(of = one, id = 'app'): Promise<TokenResponse> {
    const answer = await get(of, id);
    return typeof answer === 'object' ? answer : expect.fail(`refused: ${answer}`);
  }

  async function fill(): Promise<readonly TokenResponse[]> {
    const tokens = [await got(), await got(other), await got(other, 'refreshing')];
    await round(other);
    await round(one);
    return tokens;
  }

  it('is counted nowhere in the database that the box has left', async () => {
    await got();
    await world.owner.query(`UPDATE boxgate.box SET transit = 'moved', counterpart = 'eu' WHERE box = $1`, [box]);
    const lines: unknown[] = [];
    const { services, notes } = one;
    const telling = createLog('info', { write: (line) => lines.push(line) });
    await countRound({ pool: services.pool, notes, now: services.now, log: telling }, running);
    expect(lines).to.deep.equal([]);
  });

  it('R-53 refuses a token beyond it on every replica, with 422, its name and what to do, and keeps what exists', async () => {
    const tokens = await fill();
    for (const each of [one, other]) {
      for (const id of ['app', 'refreshing']) {
        const refused: unknown = await request(each, id).catch((error: unknown) => error);
        if (!(refused instanceof OAuthError)) throw new Error(`not refused on ${id}`);
        expect(refused).to.include({ code: 'slow_down', status: 422, retryAfter: 60 });
        expect(refused.message).to.match(
          /at most 3 active sessions\..*raise `sessions` in the annotation boxgate\.dev\/quota/,
        );
        // The characters of RFC 6749 §5.2.
        expect(refused.message).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      }
    }
    for (const { access_token } of tokens) {
      const presented = formRequest({ token: access_token }, { box, authorization: basic('app', secret) });
      expect((await introspect(presented, one.services, NO_CHECKS))?.active).to.equal(true);
    }
  });

  it('R-53 tells only an authenticated client that the box is full', async () => {
    await fill();
    const stranger = formRequest({ grant_type: 'client_credentials' }, { box, authorization: basic('app', 'wrong') });
    expect(await outcome(token(stranger, one.services, NO_CHECKS))).to.equal('invalid_client');
  });

  it('R-53 refuses a refresh too, and uses up nothing', async () => {
    const [, , { refresh_token = '' } = expect.fail('no token')] = await fill();
    const refresh = () => outcome(request(one, 'refreshing', { grant_type: 'refresh_token', refresh_token }));
    expect(await refresh()).to.equal('slow_down');
    await quota(10);
    await round();
    expect(await refresh()).to.be.an('object');
  });

  it('R-53 has room again when a session is closed, and when the others have expired', async () => {
    const [{ access_token } = expect.fail('no token')] = await fill();
    const { id } = parseAccessToken(access_token) ?? expect.fail('no token');
    await endSession(box, id, 'closed', one.services);
    await round(other);
    await got(one);
    await round(one);
    expect(await get(other)).to.equal('slow_down');
    world.clock.now += 601_000;
    await round(other);
    await got(one);
  });

  it('R-53 has room again when the quota is raised, when a client is deleted, and when its sessions are revoked', async () => {
    await fill();
    await quota(4);
    await round();
    await got();
    await round();
    expect(await get()).to.equal('slow_down');
    await world.remove(box, 'Client', 'refreshing');
    await round();
    await got();
    await round();
    expect(await get()).to.equal('slow_down');
    await world.owner.query(`UPDATE boxgate.resource SET revoked_before = now() + interval '1 second' WHERE box = $1`, [
      box,
    ]);
    await round();
    await got();
  });

  it('R-53 counts sessions from before there was a count, and learns of a lower quota with the next token', async () => {
    for (let nth = 0; nth < 5; nth += 1) await got();
    one.notes.takeIssued();
    await got(other);
    await round(other);
    expect(await get()).to.equal('slow_down');
    await quota(100);
    await round();
    await got();
    await quota(1);
    await round();
    expect(await get()).to.equal('slow_down');
  });

  it('R-53 concerns its own box alone, and counts no box that is far from its quota twice', async () => {
    const full = box;
    await fill();
    boxes += 1;
    box = `full-${String(boxes)}`;
    await world.declare(box, { kind: 'Client', id: 'app', secret, grant_types: ['client_credentials'] });
    const countedAt = async (): Promise<unknown> => {
      const { rows } = await world.owner.query('SELECT active FROM boxgate.session_count WHERE box = $1', [box]);
      return rows;
    };
    await got();
    await round();
    expect(await countedAt()).to.deep.equal([{ active: '1' }]);
    await got();
    await round();
    expect(await countedAt()).to.deep.equal([{ active: '1' }]);
    box = full;
    expect(await get()).to.equal('slow_down');
  });

  it('R-53 loses no report that could not be made', async () => {
    await got();
    await got();
    const broken = { ...one.services.pool, connect: () => Promise.reject(new Error('away')) };
    await countRound({ pool: broken, notes: one.notes, now: one.services.now, log }, running);
    await got();
    await round();
    expect(await get()).to.equal('slow_down');
  });

  it('R-53 costs a token no statement: only rounds in the background count', async () => {
    await got();
    const before = world.taken();
    await got();
    expect(world.taken() - before).to.equal(1);
  });
});

describe('whether a quota of sessions is reached', () => {
  for (const [active, quota, wasFull, isReached] of [
    [4, 5, false, false],
    [5, 5, false, true],
    [6, 5, true, true],
    [4, 5, true, false],
    [0, 0, true, true],
    [999_999, 1_000_000, false, false],
    [999_999, 1_000_000, true, true],
    [990_000, 1_000_000, true, true],
    [989_999, 1_000_000, true, false],
  ] as const) {
    it(`R-53 ${String(active)} of ${String(quota)}${wasFull ? ', full before' : ''}: ${isReached ? 'yes' : 'no'}`, () => {
      expect(isQuotaReached(active, quota, wasFull)).to.equal(isReached);
    });
  }
});

import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { parseAccessToken } from '../../../api/credentials/token-text.ts';
import { endSession } from '../../../api/oauth/session/end-session.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { basic } from '../requests.ts';
import { formRequest, makeWorld, outcome, patiently } from '../world.ts';
import type { World } from '../world.ts';
import { wrapDecisions } from '../wrapped-decisions.ts';
import { NO_CHECKS } from '../no-checks.ts';

const secret = generateClientSecret();
const settings = { access_token_expiration: 600 };
const kinds: Readonly<Record<string, object>> = {
  opaque: settings,
  jwt: { ...settings, token_format: 'jwt' },
  refreshing: { ...settings, refresh_token: true },
  rotating: { ...settings, refresh_token: true, refresh_rotation: true },
};

describe('tokens.max_sessions_per_client', () => {
  let world: World;
  let box = '';
  let boxes = 0;

  before(async () => {
    world = await makeWorld();
  });
  after(() => world.end());
  beforeEach(async () => {
    // Not when the file is loaded: the clock of Postgres goes on until the test runs.
    world.clock.now = Date.now();
    boxes += 1;
    box = `limited-${String(boxes)}`;
    await limit(3);
    await declareClients(box);
  });

  const limit = (most: number | undefined, name = box) => {
    const tokens = most === undefined ? {} : { max_sessions_per_client: most };
    return world.declare(name, { kind: 'Box', id: name, tokens });
  };

  function declareClients(name: string): Promise<void> {
    const clients = Object.entries(kinds).map(
      ([id, client_credentials]) =>
        ({ kind: 'Client', id, secret, grant_types: ['client_credentials'], auth: { client_credentials } }) as const,
    );
    return world.declare(name, ...clients);
  }

  type Got = TokenResponse | string | undefined;

  function get(id: string, services: OAuthServices = world.services, name = box): Promise<Got> {
    const fields = { grant_type: 'client_credentials' };
    return outcome(token(formRequest(fields, { box: name, authorization: basic(id, secret) }), services, NO_CHECKS));
  }

  async function got(id: string): Promise<TokenResponse> {
    return succeeded(await get(id));
  }

  function refresh(id: string, refreshToken: string | undefined): Promise<Got> {
    const fields = { grant_type: 'refresh_token', client_id: id, refresh_token: refreshToken ?? '' };
    return outcome(token(formRequest(fields, { box }), world.services, NO_CHECKS));
  }

  function succeeded(answer: Got): TokenResponse {
    if (typeof answer !== 'object') throw new Error(`refused: ${String(answer)}`);
    return answer;
  }

  async function fill(id: string): Promise<readonly TokenResponse[]> {
    return [await got(id), await got(id), await got(id)];
  }

  async function isLive(text: string): Promise<boolean> {
    const request = formRequest({ token: text }, { box, authorization: basic('opaque', secret) });
    return (await introspect(request, world.services, NO_CHECKS))?.active === true;
  }

  async function close(text: string): Promise<void> {
    const session = parseAccessToken(text);
    if (session === undefined) throw new Error('no token');
    await endSession(box, session.id, 'closed', world.services);
  }

  async function rooms(name = box): Promise<number> {
    const { rows } = await world.owner.query('SELECT FROM boxgate.session_room WHERE box = $1', [name]);
    return rows.length;
  }

  for (const id of Object.keys(kinds)) {
    it(`refuses the token past it, of the client ${id}, and leaves the others alone`, async () => {
      const tokens = await fill(id);
      expect(await get(id)).to.equal('slow_down');
      expect(await Promise.all(tokens.map(({ access_token }) => isLive(access_token)))).to.deep.equal([
        true,
        true,
        true,
      ]);
    });
  }

  it('counts each client by itself, in each box by itself', async () => {
    await fill('opaque');
    await got('jwt');
    const other = `${box}-other`;
    await limit(3, other);
    await declareClients(other);
    succeeded(await get('opaque', world.services, other));
  });

  it('counts the sessions of refreshed tokens; a refused refresh uses nothing up', async () => {
    for (const id of ['refreshing', 'rotating']) {
      const first = await got(id);
      const second = succeeded(await refresh(id, first.refresh_token));
      const present = second.refresh_token ?? first.refresh_token;
      const third = succeeded(await refresh(id, present));
      const last = third.refresh_token ?? present;
      expect(await refresh(id, last), id).to.equal('slow_down');
      world.clock.now += 601_000;
      succeeded(await refresh(id, last));
    }
  });

  it('has room again when a session has ended, a second later at most', async () => {
    const [first] = await fill('opaque');
    expect(await get('opaque')).to.equal('slow_down');
    await close(first?.access_token ?? '');
    world.clock.now += 1000;
    await got('opaque');
    expect(await get('opaque')).to.equal('slow_down');
  });

  it('has room at once for a session that ended before anybody was refused', async () => {
    const [first] = await fill('opaque');
    await close(first?.access_token ?? '');
    await got('opaque');
  });

  it('has room again when sessions have expired', async () => {
    await fill('opaque');
    world.clock.now += 599_000;
    expect(await get('opaque')).to.equal('slow_down');
    world.clock.now += 2_000;
    await fill('opaque');
    expect(await get('opaque')).to.equal('slow_down');
  });

  it('has room again when all sessions of the client were revoked, and forgets what it had when it is created again', async () => {
    await fill('opaque');
    expect(await get('opaque')).to.equal('slow_down');
    await world.remove(box, 'Client', 'opaque');
    expect(await rooms()).to.equal(0);
    await declareClients(box);
    await fill('opaque');
    expect(await get('opaque')).to.equal('slow_down');
  });

  it('counts again when it is changed', async () => {
    await fill('opaque');
    await limit(4);
    await got('opaque');
    expect(await get('opaque')).to.equal('slow_down');
    await limit(2);
    expect(await get('opaque')).to.equal('slow_down');
  });

  it('counts what was issued before it was set, and while it was not', async () => {
    await limit(undefined);
    await got('opaque');
    await limit(3);
    await got('opaque');
    await limit(undefined);
    await got('opaque');
    await limit(3);
    expect(await get('opaque')).to.equal('slow_down');
  });

  it('is never passed by many at once, on two replicas', async () => {
    const replicas = [world.services, world.replica()];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => patiently(() => get('opaque', replicas[index % 2]))),
    );
    expect(answers.filter((answer) => answer !== 'slow_down').length).to.equal(3);
    for (const answer of answers) expect(answer).to.be.oneOf([answer, 'slow_down']);
    const { rows } = await world.owner.query(`SELECT FROM boxgate.session WHERE box = $1 AND client = 'opaque'`, [box]);
    expect(rows.length).to.equal(3);
  });

  it('costs a box without it nothing: its tokens take the hot statement and leave no count', async () => {
    const free = `${box}-free`;
    await declareClients(free);
    let issued = 0;
    const watched = wrapDecisions(world.services, (decision) => (state, statements, transaction) => {
      const issue = statements.issue.bind(statements);
      statements.issue = (session) => {
        issued += 1;
        return issue(session);
      };
      return decision(state, statements, transaction);
    });
    for (let count = 0; count < 5; count += 1) succeeded(await get('opaque', watched, free));
    expect(issued).to.equal(5);
    expect(await rooms(free)).to.equal(0);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ManagementError } from '../../api/client/management-error.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { seededRandom } from '../support/random.ts';
import { ask, declareBox, declareClient, introspect, issue, move, post } from './box-calls.ts';
import type { Answer, Box } from './box-calls.ts';
import { names, threeDatabases } from './three-databases.ts';
import type { Name, ThreeDatabases } from './three-databases.ts';

const moves = Number(process.env['BOXGATE_MOVES'] ?? 200);
const boxCount = 4;
const workersPerBox = 2;

/** Milliseconds after its beginning within which a move may be met by a kill. */
const killWithin = 200;

/** A box, and what it has acknowledged. */
interface Loaded {
  readonly box: Box;
  database: Name;
  /** Access tokens, and whether each is valid; undefined: its revocation was not answered. */
  readonly tokens: Map<string, boolean | undefined>;
  /** Tokens to close: a closed session ends its family. */
  readonly closable: string[];
  readonly refreshTokens: string[];
  readonly users: string[];
  readonly clients: string[];
  /** True while it is moved: a check may meet the moment of its arrival. */
  isMoving: boolean;
}

describe('boxes that are moved again and again while replicas are killed', () => {
  const random = seededRandom();
  const replicas: ApiProcess[] = [];
  const loaded: Loaded[] = [];
  const faults: string[] = [];
  const counts = { moves: 0, kills: 0, answers: 0, waited: 0, interrupted: 0 };
  let databases: ThreeDatabases;
  let nth = 0;

  async function start(nth: number): Promise<void> {
    const { BOXGATE_DATABASE_URL, ...environment } = databases.environment();
    replicas[nth] = await startApiProcess(BOXGATE_DATABASE_URL, environment);
  }

  const first = (): ApiProcess => replicas[0] ?? expect.fail('no replica');

  before(async () => {
    databases = await threeDatabases();
    await Promise.all([start(0), start(1)]);
    for (let nth = 0; nth < boxCount; nth += 1) {
      const database = random.pick(names);
      const box = await declareBox(first(), `box-${String(nth)}`, database);
      const { json } = await issue(first(), box);
      const tokens = new Map([[String(json['access_token']), true]]);
      const refreshTokens = [String(json['refresh_token'])];
      loaded.push({
        box,
        database,
        tokens,
        closable: [],
        refreshTokens,
        users: [],
        clients: ['app'],
        isMoving: false,
      });
    }
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.end('SIGTERM')));
    await databases.drop();
  });

  /** Sends a request to one of the replicas; undefined if that was killed before it answered. */
  async function send<T>(request: (replica: ApiProcess) => Promise<T>): Promise<T | undefined> {
    const nth = random.below(replicas.length);
    const replica = replicas[nth] ?? first();
    try {
      return await request(replica);
    } catch {
      if (replica.hasEnded() || replica !== replicas[nth]) return undefined;
      // The answer of a replica breaks off a moment before its end is known.
      await eventually('the replica that did not answer is gone', () => replica.hasEnded(), 1_000);
      return undefined;
    }
  }

  /** Sends a change; true if it was accepted. One that is not has to wait, or was cut off by a kill. */
  function isAccepted(what: string, answer: Answer | undefined, accepted = 200): boolean {
    counts.answers += 1;
    if (answer === undefined) return false;
    if (answer.status === accepted) return true;
    if (answer.status === 503 && answer.retryAfter !== null) counts.waited += 1;
    else faults.push(`${what}: ${String(answer.status)} ${JSON.stringify(answer.json)}`);
    return false;
  }

  /** Checks one of the tokens, unless it is being revoked meanwhile. */
  async function check(one: Loaded): Promise<void> {
    const [token = '', isValid] = [...one.tokens][random.below(one.tokens.size)] ?? [];
    if (isValid === undefined) return;
    const wasMoving = one.isMoving;
    const answer = await send((replica) => introspect(replica, one.box, token));
    counts.answers += 1;
    if (answer === undefined || one.tokens.get(token) !== isValid) return;
    if (answer.status === 503 && (wasMoving || one.isMoving)) counts.interrupted += 1;
    else if (answer.status !== 200 || answer.json['active'] !== isValid) {
      faults.push(`a check of a token (${String(isValid)}): ${String(answer.status)} ${JSON.stringify(answer.json)}`);
    }
  }

  async function getToken({ box, tokens, closable, refreshTokens }: Loaded): Promise<void> {
    const answer = await send((replica) => issue(replica, box));
    if (!isAccepted('a token', answer)) return;
    const token = String(answer?.json['access_token']);
    tokens.set(token, true);
    if (random.below(2) === 0) closable.push(token);
    else refreshTokens.push(String(answer?.json['refresh_token']));
  }

  async function refresh({ box, tokens, refreshTokens }: Loaded): Promise<void> {
    const refresh_token = refreshTokens[random.below(refreshTokens.length)] ?? '';
    const form = { grant_type: 'refresh_token', refresh_token };
    const answer = await send((replica) => post(replica, box, '/auth/token', form));
    if (isAccepted('a refresh', answer)) tokens.set(String(answer?.json['access_token']), true);
  }

  async function close({ box, tokens, closable }: Loaded): Promise<void> {
    const token = closable.pop();
    if (token === undefined) return;
    tokens.set(token, undefined);
    const answer = await send((replica) => ask(replica, box, ['DELETE', '/Session'], token));
    if (isAccepted('a revocation', answer)) tokens.set(token, false);
  }

  async function createUser({ box, tokens, users }: Loaded, nth: number): Promise<void> {
    const [token = ''] = tokens.keys();
    const user = { email: `user-${String(nth)}@${box.host}`, password: 'correct horse battery' };
    const answer = await send((replica) => ask(replica, box, ['POST', '/users'], token, user));
    if (isAccepted('a user', answer, 201)) users.push(String(answer?.json['id']));
  }

  async function declare({ box, clients }: Loaded, nth: number): Promise<void> {
    const id = `client-${String(nth)}`;
    const refused = await send(async (replica) => {
      try {
        await declareClient(replica, box, id);
      } catch (error) {
        if (error instanceof ManagementError && error.code === 'unavailable') return 'later';
        throw error;
      }
      return 'accepted';
    });
    if (refused === 'accepted') clients.push(id);
  }

  /** Works on a box until all moves are done. */
  async function work(one: Loaded, isOver: () => boolean): Promise<void> {
    for (; !isOver();) {
      const chance = random.below(100);
      if (chance < 50) await check(one);
      else if (chance < 70) await getToken(one);
      else if (chance < 85) await refresh(one);
      else if (chance < 95) await close(one);
      else if (chance < 98) await createUser(one, (nth += 1));
      else await declare(one, (nth += 1));
    }
  }

  /** Moves a box as an operator does: again and again, until it is there. Sometimes a replica is killed meanwhile. */
  async function moveOnce(one: Loaded): Promise<void> {
    const to = random.pick(names);
    const mover = random.below(replicas.length);
    const victim = random.below(4) === 0 ? random.below(replicas.length) : undefined;
    one.isMoving = true;
    const moving = move(replicas[mover] ?? first(), one.box, to).catch(() => undefined);
    if (victim !== undefined) {
      counts.kills += 1;
      await Promise.race([moving, sleep(random.below(killWithin))]);
      await replicas[victim]?.end('SIGKILL');
    }
    const [, restarted] = [await moving, victim === undefined ? undefined : start(victim)];
    const isMoved = async (): Promise<boolean> => (await send((replica) => move(replica, one.box, to))) === 200;
    await eventually(`${one.box.name} is moved to ${to}`, isMoved);
    one.isMoving = false;
    await restarted;
    one.database = to;
    counts.moves += 1;
    expect(await databases.servedIn(one.box.name), one.box.name).to.deep.equal([to]);
  }

  async function expectNothingLost({ box, tokens, refreshTokens, users, clients }: Loaded): Promise<void> {
    const [token = ''] = tokens.keys();
    for (const [one, isValid] of tokens) {
      if (isValid === undefined) continue;
      expect((await introspect(first(), box, one)).json['active'], 'a token').to.equal(isValid);
    }
    for (const refresh_token of refreshTokens) {
      const { status } = await post(first(), box, '/auth/token', { grant_type: 'refresh_token', refresh_token });
      expect(status, 'a refresh').to.equal(200);
    }
    for (const path of [...users.map((id) => `/users/${id}`), ...clients.map((id) => `/Client/${id}`)]) {
      expect((await ask(first(), box, ['GET', path], token)).status, path).to.equal(200);
    }
  }

  it(`lose nothing of what they have accepted, and are in one place, ${String(moves)} times`, async function () {
    this.timeout(120_000 + moves * 60_000);
    let isOver = false;
    const workers = loaded.flatMap((one) => Array.from({ length: workersPerBox }, () => work(one, () => isOver)));
    const working = Promise.all(workers);
    try {
      for (let done = 0; done < moves; done += 1) {
        await Promise.race([moveOnce(loaded[done % loaded.length] ?? expect.fail('no box')), working]);
      }
    } finally {
      isOver = true;
      await Promise.allSettled(workers);
      process.stdout.write(`      ${JSON.stringify({ seed: random.seed, ...counts })}\n`);
    }
    await working;
    expect(faults.join('\n'), `with BOXGATE_SEED=${String(random.seed)}`).to.equal('');
    for (const one of loaded) await expectNothingLost(one);
  });
});

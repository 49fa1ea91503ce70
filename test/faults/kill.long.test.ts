import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { createManagement } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { openConnection } from '../support/connection.ts';
import type { Connection } from '../support/connection.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { seededRandom } from '../support/random.ts';

/** `make faults` plays twenty. */
const rounds = Number(process.env['BOXGATE_KILLS'] ?? 2);
const declaredAtOnce = 40;
const workers = 4;

/** Changes that the service has acknowledged. */
interface Acknowledged {
  readonly tokens: string[];
  readonly refreshTokens: string[];
  /** The last apply that was answered. */
  generation: number;
}

describe('an API that is killed at any moment', () => {
  const random = seededRandom();
  const secret = generateClientSecret();
  const authorization = `Basic ${btoa(`worker:${secret}`)}`;
  let postgres: OwnPostgres;

  before(async () => {
    postgres = await startOwnPostgres();
  });
  after(() => postgres.remove());

  function ask(connection: Connection, path: string, fields: Record<string, string>) {
    const body = new URLSearchParams(fields);
    const headers = { Authorization: authorization };
    return connection.send({ method: 'POST', path: `/boxes/default${path}`, headers, body });
  }

  function declareGeneration(api: ApiProcess, generation: number): Promise<unknown> {
    const { declare } = createManagement(api.managementUrl, api.managementKey);
    const auth = { client_credentials: { refresh_token: true } };
    const grants = { grant_types: ['client_credentials'], name: `generation ${String(generation)}` };
    const others = Array.from({ length: declaredAtOnce - 1 }, (_, nth) => {
      return { kind: 'Client', id: `c${String(nth)}`, secret: generateClientSecret(), ...grants } as const;
    });
    return declare('default', [{ kind: 'Client', id: 'worker', secret, auth, ...grants }, ...others]);
  }

  /** Applies one generation after the other, and gets tokens, until the process is gone. */
  async function load(api: ApiProcess, done: Acknowledged, onAnswer: () => void): Promise<void> {
    const applies = async (): Promise<void> => {
      for (;;) {
        await declareGeneration(api, done.generation + 1);
        done.generation += 1;
        onAnswer();
      }
    };
    const tokens = async (): Promise<void> => {
      const connection = openConnection(api.url);
      for (;;) {
        const { status, json } = await ask(connection, '/auth/token', { grant_type: 'client_credentials' });
        if (status !== 200) continue;
        done.tokens.push(String(json['access_token']));
        done.refreshTokens.push(String(json['refresh_token']));
        onAnswer();
      }
    };
    await Promise.allSettled([applies(), ...Array.from({ length: workers }, tokens)]);
  }

  /** Starts it, lets it work until a chosen number of answers, kills it, and Postgres too when `both` says so. */
  async function killed(done: Acknowledged, both: boolean): Promise<void> {
    const api = await startApiProcess(postgres.apiUrl);
    await declareGeneration(api, done.generation + 1);
    done.generation += 1;
    let answers = 20 + random.below(200);
    const enough = Promise.withResolvers<undefined>();
    const loaded = load(api, done, () => {
      answers -= 1;
      if (answers === 0) enough.resolve(undefined);
    });
    await enough.promise;
    const ends = [api.end('SIGKILL'), ...(both ? [postgres.kill()] : [])];
    await Promise.all(ends);
    await loaded;
    if (both) await postgres.restart();
  }

  async function expectNothingLost(done: Acknowledged): Promise<void> {
    const { rows } = await postgres.query(
      `SELECT body ->> 'name' AS name, count(*)::integer AS count FROM boxgate.resource WHERE kind = 'Client' GROUP BY 1`,
    );
    // One that was not answered may be there, but whole.
    const possible = [done.generation, done.generation + 1].map((nth) => `generation ${String(nth)}`);
    expect(rows).to.have.length(1);
    expect(rows[0]?.['count']).to.equal(declaredAtOnce);
    expect(possible).to.include(rows[0]?.['name']);
    const api = await startApiProcess(postgres.apiUrl);
    const connection = openConnection(api.url);
    for (const token of done.tokens) {
      const { json } = await ask(connection, '/auth/introspect', { token });
      expect(json['active'], 'an acknowledged token').to.equal(true);
    }
    for (const refresh_token of done.refreshTokens.slice(0, 50)) {
      const { status } = await ask(connection, '/auth/token', { grant_type: 'refresh_token', refresh_token });
      expect(status, 'a use of an acknowledged refresh token').to.equal(200);
    }
    connection.close();
    expect(await api.end('SIGTERM')).to.equal(0);
  }

  it(`has everything it acknowledged when it is started again, and no half of a call, ${String(rounds)} times`, async function () {
    this.timeout(120_000 + rounds * 60_000);
    let generation = 0;
    for (let round = 0; round < rounds; round += 1) {
      const done: Acknowledged = { tokens: [], refreshTokens: [], generation };
      const both = round % 2 === 1;
      try {
        await killed(done, both);
        await expectNothingLost(done);
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : 'failed';
        throw new Error(`round ${String(round)} of BOXGATE_SEED=${String(random.seed)}: ${message}`, { cause });
      }
      generation = done.generation + 1;
    }
  });
});

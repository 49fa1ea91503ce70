import { expect } from 'chai';
import { routes } from '../../../api/app.ts';
import { startApiProcess } from '../../support/api-process.ts';
import type { ApiProcess } from '../../support/api-process.ts';
import { eventually } from '../../support/eventually.ts';
import { seededRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { adminSecret, stringIn } from '../resources/box-api.ts';
import {
  newAuditEvent,
  newGrant,
  newGroup,
  newSession,
  newUser,
  requestsOf,
  startRouteApi,
} from '../route-requests.ts';
import type { RouteApi, RouteRequest } from '../route-requests.ts';
import { converse, statusesIn } from './converse.ts';
import { fuzzRequest } from './fuzz-request.ts';

const count = Number(process.env['BOXGATE_FUZZ_REQUESTS'] ?? 10_000);
/** Requests that are made of the same tokens and ids: some of them delete what they are made of. */
const ofOneRound = 1_000;
const connections = 16;
const mostOnOneConnection = 6;

const stackTrace =
  /\bat [^\r\n]*(?:[./][a-z]+|node:[\w/]+|<anonymous>):\d+:\d+|node_modules|\bSELECT .* FROM\b|postgres:\/\//;

describe('the public port', () => {
  /** Makes what the requests need; the fuzzed process is another replica on its database. */
  let supply: RouteApi;
  let api: ApiProcess;

  before(async () => {
    supply = await startRouteApi();
    api = await startApiProcess(supply.database.apiUrl, unthrottled);
  });
  after(async () => {
    await api.end('SIGTERM');
    await supply.stop();
  });

  const random = seededRandom();

  it(`answers ${String(count)} requests made of the routes by chance, seed ${String(random.seed)}, without a fault of its own`, async () => {
    const answered = new Map<number, number>();
    for (let sent = 0; sent < count; sent += ofOneRound) {
      const waiting = conversations(await seedsOnceServed(supply), Math.min(ofOneRound, count - sent), random);
      await Promise.all(
        Array.from({ length: connections }, async () => {
          for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
            expectNoFault(await converse(api.url, next), next, answered);
          }
        }),
      );
      expect(api.hasEnded(), 'the process has ended').to.equal(false);
    }
    for (const line of api.lines) expect(levelOf(line), line).to.be.oneOf(['debug', 'info', 'warn']);
    // The requests get further than the first check: they are accepted, refused for each reason, and not found.
    for (const status of [200, 201, 400, 401, 403, 404, 405, 409, 415, 422]) {
      expect(answered.get(status) ?? 0, `answers with ${String(status)}`).to.be.greaterThan(0);
    }
  });
});

type Seeds = readonly [RouteRequest, ...RouteRequest[]];

/** Makes the requests of a round before the first is sent: the seed alone decides what they are. */
function conversations(seeds: Seeds, requests: number, random: Random): (readonly Buffer[])[] {
  const made: (readonly Buffer[])[] = [];
  for (let left = requests; left > 0;) {
    const length = Math.min(left, 1 + random.below(mostOnOneConnection));
    made.push(Array.from({ length }, () => fuzzRequest(seeds, random)));
    left -= length;
  }
  return made;
}

function expectNoFault(answers: string, requests: readonly Buffer[], answered: Map<number, number>): void {
  const shown = JSON.stringify(requests.map((bytes) => bytes.toString('latin1').slice(0, 2_000)));
  for (const status of statusesIn(answers)) {
    answered.set(status, (answered.get(status) ?? 0) + 1);
    if (status >= 500) expect(status, shown).to.equal(503);
  }
  const [trace] = stackTrace.exec(answers) ?? [];
  expect(trace, shown).to.equal(undefined);
}

/**
 * Returns the level of a line of the log. Throws when it is no JSON: something has got into it that is no line of its
 * own.
 */
function levelOf(line: string): unknown {
  return Reflect.get(Object(JSON.parse(line)), 'level');
}

/** Makes the good requests as soon as the service answers: under this load Postgres may be late, which is a 503. */
async function seedsOnceServed(supply: RouteApi): Promise<Seeds> {
  const made: Seeds[] = [];
  await eventually('every good request is made', async () => made.push(await freshSeeds(supply)) > 0);
  const [seeds] = made;
  if (seeds === undefined) throw new Error('there are no requests');
  return seeds;
}

/** Makes a good request for every route, with ids that are new and a token each: some of them close their session. */
async function freshSeeds(supply: RouteApi): Promise<Seeds> {
  const ids = {
    Session: await newSession(supply),
    users: await newUser(supply),
    Group: await newGroup(supply),
    Grant: await newGrant(supply),
    AuditEvent: await newAuditEvent(supply),
  };
  const tokens = await Promise.all(
    routes.map(async () => stringIn(await supply.requestToken('admin', adminSecret), 'access_token')),
  );
  const made = tokens.flatMap((token, nth) => requestsOf(token, ids).slice(nth, nth + 1));
  const pages = supply.requests.filter(({ shape }) => shape === 'page');
  const [first, ...rest] = made.filter(({ shape }) => shape !== 'page');
  if (first === undefined) throw new Error('there are no routes');
  return [first, ...rest, ...pages];
}

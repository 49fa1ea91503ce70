import type { Boxgate } from '../boxgate.ts';
import type { BenchContext } from '../context.ts';
import { percent, perSecond, whole } from '../figures.ts';
import type { LoadPlan, LoadReport } from '../load/plan.ts';
import { introspections } from '../introspections.ts';
import { bearerRequest, formRequest } from '../load/requests.ts';
import { median, medianRatio } from '../median.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

/**
 * Boxes beside the measured one. Each sends one request a second, as one box may have one record of a denial a second.
 */
const otherBoxes = 50;

/** Load beside the measured one: the same requests, granted or denied. */
type Beside = 'granted' | 'denied';

/**
 * Tokens and checks while denials in other boxes are recorded, each a line on stdout and a row, against as many granted
 * requests, which are not.
 */
export const auditLines: Scenario = {
  name: 'audit-lines',
  async run(context) {
    // Each request beside tells an address of its own: denials of one address and minute would be one record.
    const boxgate = await context.boxgate('audit', { BOXGATE_TRUSTED_PROXIES: '127.0.0.1' });
    const { opaque } = boxgate.clients;
    const grant = { grant_type: 'client_credentials' };
    const measured = {
      tokens: [formRequest(boxgate.path('/auth/token'), grant, opaque)],
      checks: await introspections(boxgate, opaque, 2_000),
    };
    const tokens = await tokensOfOtherBoxes(boxgate);
    const rates = { tokens: ratesOf(), checks: ratesOf() };
    for (let round = 0; round < context.rounds; round += 1) {
      for (const what of ['tokens', 'checks'] as const) {
        for (const beside of ['denied', 'granted'] as const) {
          const others = requestsBeside(boxgate, tokens, beside, context, round + (what === 'tokens' ? 0 : 100));
          rates[what][beside].push(await rateBeside(context, boxgate, measured[what], others));
        }
        context.say(`  ${what}: ${rates[what].denied.map(perSecond).join(' ')}`);
      }
    }
    const records = await recordCount(context, boxgate);
    const ofTokens = medianRatio(rates.tokens.denied, rates.tokens.granted);
    const ofChecks = medianRatio(rates.checks.denied, rates.checks.granted);
    const part = (name: string, ratio: number, rate: readonly number[]) =>
      `${name} ${percent(ratio)} (${perSecond(median([...rate]))})`;
    return [
      {
        what: `tokens and checks while ${otherBoxes} denials a second are recorded and logged, against as many granted requests`,
        goal: '>= 97 %',
        figure: `${part('tokens', ofTokens, rates.tokens.denied)}, ${part('checks', ofChecks, rates.checks.denied)}; ${whole(records)} records`,
        verdict: verdictOf(ofTokens >= 0.97 && ofChecks >= 0.97),
      },
    ];
  },
};

function ratesOf(): Record<Beside, number[]> {
  return { granted: [], denied: [] };
}

const nameOf = (nth: number): string => `beside-${String(nth)}`;

/** Declares the other boxes, each with a client and a policy for an app, and issues a token in each of them. */
async function tokensOfOtherBoxes(boxgate: Boxgate): Promise<string[]> {
  const { reader } = boxgate.clients;
  const tokens: string[] = [];
  for (let nth = 0; nth < otherBoxes; nth += 1) {
    await boxgate.addTo(nameOf(nth), [
      {
        kind: 'Client',
        id: reader.id,
        resource: { resourceType: 'Client', ...reader, grant_types: ['client_credentials'] },
      },
      {
        kind: 'AccessPolicy',
        id: 'bench-app',
        resource: {
          resourceType: 'AccessPolicy',
          id: 'bench-app',
          engine: 'matcho',
          link: [{ resourceType: 'Client', id: reader.id }],
          apps: ['bench'],
          matcho: { uri: '/granted' },
        },
      },
    ]);
    tokens.push(...(await boxgate.issueIn(nameOf(nth), reader, 1)));
  }
  return tokens;
}

/** Requests of the other boxes in turn, enough for one round, each with an address that no other one has. */
function requestsBeside(
  boxgate: Boxgate,
  tokens: readonly string[],
  beside: Beside,
  { seconds }: Pick<BenchContext, 'seconds'>,
  round: number,
): string[] {
  const turns = Math.ceil(seconds + warmupSeconds) + 1;
  return Array.from({ length: turns }, (_, turn) =>
    tokens.map((token, nth) =>
      bearerRequest(boxgate.pathIn(nameOf(nth), '/auth/check?app=bench'), token, [
        'X-Original-Method: GET',
        `X-Original-URI: /${beside}`,
        `X-Forwarded-For: 10.${String(round)}.${String(turn)}.${String(nth)}`,
      ]),
    ),
  ).flat();
}

const warmupSeconds = 0.5;

/**
 * Drives the measured load with the other one beside it, and returns its rate. Throws if an answer is not the expected
 * one.
 */
async function rateBeside(
  context: BenchContext,
  { port }: Boxgate,
  requests: string[],
  others: string[],
): Promise<number> {
  const time = { port, seconds: context.seconds, warmupSeconds };
  const plan: LoadPlan = { ...time, connections: 64, requests };
  const [report, beside] = await Promise.all([
    context.load.run(plan),
    context.otherLoad.run({ ...time, connections: 4, requests: others, rate: otherBoxes }),
  ]);
  const expected = others[0]?.includes('/denied') === true ? '403' : '200';
  refuseOthers(report, '200');
  refuseOthers(beside, expected);
  return report.perSecond;
}

function refuseOthers({ statuses, failures }: LoadReport, expected: string): void {
  if (failures > 0 || Object.keys(statuses).join() !== expected)
    throw new Error(`${String(failures)} connections lost, answers by status ${JSON.stringify(statuses)}`);
}

/** Returns the number of stored records of denials. Throws if there are none: the run would compare nothing. */
async function recordCount(context: BenchContext, { database }: Boxgate): Promise<number> {
  const [row] = await context.postgres.query<{ count: string }>(
    database,
    `SELECT count(*) FROM boxgate.audit_event WHERE event = 'access.denied'`,
    [],
  );
  const count = Number(row?.count);
  if (!(count > 0)) throw new Error('no denial was recorded');
  return count;
}

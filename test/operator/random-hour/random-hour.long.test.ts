import { expect } from 'chai';
import { seededRandom } from '../../support/random.ts';
import { edits } from './edits.ts';
import { playHour } from './random-hour.ts';
import { startHourStage, type HourStage } from './stage.ts';

/** `make hour` plays the whole: 580 Clients in 20 namespaces. */
const minutes = Number(process.env['BOXGATE_HOUR_MINUTES'] ?? 0);
const size =
  minutes > 0 ? { boxes: 20, clients: Number(process.env['BOXGATE_HOUR_CLIENTS'] ?? 580) } : { boxes: 3, clients: 30 };

describe('a random hour of edits, kills, taken rights, skewed definitions and ServiceAccounts created again', () => {
  const { seed } = seededRandom();
  let stage: HourStage;
  before(async () => {
    stage = await startHourStage();
  });
  after(() => stage.stop());

  it(`R-54, R-55, I8: never has a Client Ready whose token request fails on a replica (BOXGATE_SEED=${String(seed)})`, async function () {
    this.timeout(900_000 + minutes * 120_000);
    const report = await playHour(stage, { seed, ...size, milliseconds: minutes * 60_000 });
    const { violations, unsettled, ...counts } = report;
    if (minutes > 0) process.stdout.write(`${JSON.stringify({ seed, ...size, ...counts }, undefined, 2)}\n`);
    const lines = violations.map(({ object, what }) => `${object}: ${what.join('; ')}`);
    expect(violations, [...lines, JSON.stringify(violations.slice(0, 3), undefined, 2)].join('\n')).to.deep.equal([]);
    expect(unsettled).to.deep.equal([]);
    const noted = [
      'killed',
      'frozen',
      'told of a change without the API',
      'right taken',
      'definition changed',
      'ServiceAccount deleted',
      'ServiceAccount created',
    ];
    const names = Object.keys(edits);
    expect(counts.steps).to.include.keys([...noted, ...names.map((name) => `edit ${name}`)]);
    expect(counts.checks.right).to.be.greaterThan(size.clients);
  });
});

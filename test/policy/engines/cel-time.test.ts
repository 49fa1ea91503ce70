import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { STEPS_PER_DECISION } from '../../../api/policy/steps.ts';
import { compiled, countedSteps, sampleRequest } from '../policies.ts';

/** The result of an expression, or the reason why it has none. */
function result(expression: string, body?: unknown, time = Date.UTC(2026, 10, 23, 8, 30) / 1000) {
  const policy = compiled({ engine: 'cel', expression });
  expect(policy.fault).to.equal(undefined);
  const { granted, fault } = policy.evaluate(sampleRequest({ body, time }), countedSteps());
  return fault ?? granted;
}

describe('time in CEL', () => {
  const yes = [
    // 2026-11-23, a Monday, 08:30 UTC.
    'timestamp(time) == timestamp("2026-11-23T08:30:00Z")',
    'time - 60 == 1795422540',
    'timestamp(time).getHours() == 8 && timestamp(time).getMinutes() == 30',
    'timestamp(time).getHours("Europe/Berlin") == 9',
    'timestamp(time).getHours("America/New_York") == 3',
    'timestamp(time).getHours("Asia/Kolkata") == 14 && timestamp(time).getMinutes("Asia/Kolkata") == 0',
    'timestamp(time).getHours("UTC") == 8',
    'timestamp(time).getHours("+01:00") == 9 && timestamp(time).getHours("-09:45") == 22',
    'timestamp(time).getHours("01:00") == 9',
    'timestamp(time).getDate("-09:45") == 22 && timestamp(time).getDayOfWeek("-09:45") == 0',
    'timestamp(time).getDayOfWeek("Europe/Berlin") == 1',
    'timestamp(time).getFullYear("Europe/Berlin") == 2026 && timestamp(time).getMonth("Europe/Berlin") == 10',
    'timestamp(time).getDate("Europe/Berlin") == 23 && timestamp(time).getDayOfMonth("Europe/Berlin") == 22',
    'timestamp(time).getSeconds("Europe/Berlin") == 0 && timestamp(time).getMilliseconds() == 0',
    'timestamp("2026-11-23T08:30:15.250Z").getMilliseconds("Europe/Berlin") == 250',
    'timestamp(time).getDayOfYear() == 326',
    'timestamp("2026-01-01T00:00:00Z").getDayOfYear() == 0',
    'timestamp("2026-12-31T23:30:00Z").getFullYear("Europe/Berlin") == 2027',
    'timestamp("2026-12-31T23:30:00Z").getDayOfYear("Europe/Berlin") == 0',
    // Midnight is 0, never 24.
    'timestamp("2026-11-23T23:00:00Z").getHours("Europe/Berlin") == 0',
    'timestamp("2026-11-23T23:00:00Z").getDayOfWeek("Europe/Berlin") == 2',
    // Summer time ends on 2026-10-25 at 01:00 UTC.
    'timestamp("2026-10-25T00:30:00Z").getHours("Europe/Berlin") == 2',
    'timestamp("2026-10-25T01:30:00Z").getHours("Europe/Berlin") == 2',
    'timestamp("2026-03-29T01:30:00Z").getHours("Europe/Berlin") == 3',
    // The claims of a token are numbers of the same kind.
    'timestamp(token.iat) == timestamp("2025-06-15T15:06:40Z")',
    'timestamp(0) == timestamp("1970-01-01T00:00:00Z")',
    'timestamp(253402300799).getFullYear() == 9999 && timestamp(-62135596800).getFullYear() == 1',
    'duration("90m").getHours() == 1',
  ];
  for (const expression of yes) {
    it(`${expression} is true`, () => {
      expect(result(expression)).to.equal(true);
    });
  }

  const failing: [expression: string, reason: RegExp][] = [
    ['timestamp(time).getHours("Europe/Nowhere") == 8', /Invalid time zone specified: Europe\/Nowhere/],
    ['timestamp(time).getHours("") == 8', /Invalid time zone/],
    ['timestamp(time).getHours(body.zone) == 8', /./],
    ['timestamp(253402300800) > timestamp(0)', /the number is no timestamp of years 1 to 9999/],
    ['timestamp(time * 1000) > timestamp(0)', /the number is no timestamp/],
  ];
  for (const [expression, reason] of failing) {
    it(`${expression} fails, and so does not grant`, () => {
      expect(result(expression, { zone: 5 })).to.match(reason);
    });
  }

  it('is the time of the request, the same wherever an expression reads it', () => {
    const later = Date.UTC(2026, 10, 23, 17, 0) / 1000;
    const open = 'timestamp(time).getHours("Europe/Berlin") >= 9 && timestamp(time).getHours("Europe/Berlin") < 17';
    expect(result(open)).to.equal(true);
    expect(result(open, undefined, later)).to.equal(false);
  });

  it('has loaded the data of time zones before the first decision, whose time it would use up', () => {
    const program = `
      const zones = [];
      const { DateTimeFormat } = Intl;
      Intl.DateTimeFormat = function (locale, options) {
        zones.push(options.timeZone);
        return new DateTimeFormat(locale, options);
      };
      await import('./api/policy/engines/cel.ts');
      console.log(zones.join());`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    expect(printed.trim()).to.equal('UTC');
  });

  it('answers for any number of time zones, and takes steps for each', () => {
    const offsets = Array.from({ length: 100 }, (_, at) => `Etc/GMT+${at % 12}`);
    expect(result('body.all(zone, timestamp(time).getHours(zone) >= 0)', offsets)).to.equal(true);
    expect(result('body.all(zone, timestamp(time).getHours(zone) >= 0)', Array(300).fill('UTC'))).to.contain(
      `${STEPS_PER_DECISION} steps`,
    );
  });
});

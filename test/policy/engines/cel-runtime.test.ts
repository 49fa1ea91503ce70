import { expect } from 'chai';
import { MILLISECONDS_PER_DECISION, STEPS_PER_DECISION } from '../../../api/policy/steps.ts';
import { briefSteps, compiled, countedSteps, sampleRequest } from '../policies.ts';

function evaluate(expression: string, body: unknown) {
  const policy = compiled({ engine: 'cel', expression });
  expect(policy.fault).to.equal(undefined);
  return policy.evaluate(sampleRequest({ body }), countedSteps());
}

describe('steps of a CEL expression', () => {
  const long = Array.from({ length: 20_000 }, (_, at) => at);
  const list = long.slice(0, 2000);
  const texts = list.map((at) => `${'v'.repeat(200)}${at}`);
  const digits = '9'.repeat(900_000);

  const expensive: [expression: string, body: unknown][] = [
    ['body.all(x, body.all(y, true))', list],
    ['body.exists(x, body.exists(y, x + y < 0))', list],
    ['body.all(x, body.all(y, x.a == y.a || true))', list],
    ['[body].all(l, l.all(x, l.exists(y, true)))', long],
    ['[body].all(l, l.all(x, l == l))', list],
    ['body.all(x, x in body)', list],
    ['body.all(x, body == body)', list],
    ['body.map(x, x).map(x, x).size() > 0', list],
    ['body.map(x, body).map(l, l).size() > 0', list],
    ['body.all(x, body.all(y, x != y || true))', texts],
    ['int(body) == 1', digits],
    ['double(body) == 1.0', digits],
    ['timestamp(body) < timestamp(body)', digits],
    ['body.all(x, timestamp("2026-01-01T00:00:00Z").getHours("America/New_York") > -1)', list],
    ['body.join("x").size() > 0', Array(100).fill(digits)],
    ['[1, 2, 3, 4, 5, 6].map(x, body + body).exists(s, s + s + s + s == "")', digits.slice(0, 300_000)],
    ['body.split("").size() > 0', digits],
    ['body.all(x, x.split("").size() > 0)', Array(300).fill('a'.repeat(3000))],
  ];
  for (const [expression, body] of expensive) {
    it(`gives up on ${expression}`, () => {
      const { granted, fault } = evaluate(expression, body);
      expect(granted).to.be.false;
      expect(fault).to.contain(`${STEPS_PER_DECISION} steps`);
    });
  }

  const swallowed: [expression: string, body: unknown][] = [
    ['body.all(x, body.all(y, true)) || true', list],
    ['!body.exists(x, body.exists(y, false))', list],
    ['int(body) == 1 || true', digits],
    ['!(int(body) == 1 && false)', digits],
    ['[1].exists(x, int(body) == x || x == 1)', digits],
  ];
  for (const [expression, body] of swallowed) {
    it(`${expression} does not survive the end of its steps`, () => {
      const { granted, fault } = evaluate(expression, body);
      expect(granted).to.be.false;
      expect(fault).to.contain(`${STEPS_PER_DECISION} steps`);
    });
  }

  const matching: [expression: string, body: unknown][] = [
    ['body.matches("[ab]{500}$")', 'ab'.repeat(50_000)],
    ['body.exists(x, x.matches("[uv]{300}[wx]"))', texts],
    ['body.exists(x, x.matches("[uv]{300}[wx]")) || true', texts],
  ];
  for (const [expression, body] of matching) {
    it(`R-01 gives up on ${expression} when the time is over`, () => {
      const policy = compiled({ engine: 'cel', expression });
      const { granted, fault } = policy.evaluate(sampleRequest({ body }), briefSteps());
      expect(granted).to.be.false;
      expect(fault).to.contain(`${MILLISECONDS_PER_DECISION} ms`);
    });
  }

  it('ends a loop when the steps are used up, though errors end none', () => {
    let reads = 0;
    const watched = Object.defineProperty({}, 'n', { enumerable: true, get: () => (reads += 1) });
    const expression = 'body.all(o, timestamp("2026-01-01T00:00:00Z").getHours("UTC") == 0 && o.n > 0)';
    expect(evaluate(expression, Array(5000).fill(watched)).granted).to.be.false;
    expect(reads).to.be.greaterThan(0).and.lessThan(1000);
  });

  it('answers a catastrophic expression over 30,000 characters', () => {
    expect(evaluate('body.matches("(a+)+$")', `${'a'.repeat(30_000)}!`)).to.deep.equal({ granted: false });
  });

  it('walks lists of ordinary size', () => {
    expect(evaluate('body.all(x, x >= 0)', list).granted).to.be.true;
    expect(evaluate('body.exists(x, x == 19999)', long).granted).to.be.true;
    expect(evaluate('body.filter(x, x < 10).size() == 10', long.slice(0, 500)).granted).to.be.true;
  });

  it('reads little of a large body cheaply', () => {
    expect(evaluate('body.a.b == 1', { a: { b: 1, c: long }, d: Array(100_000).fill(digits.slice(0, 10)) }).granted).to
      .be.true;
  });
});

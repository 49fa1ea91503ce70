import { celEnv, celList, celMap } from '@bufbuild/cel';
import type { CelFunc, CelValue } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { expect } from 'chai';
import fc from 'fast-check';
import { addressFunctions } from '../../../api/policy/engines/cel-addresses.ts';
import { celRuntime, LONGEST_SOUGHT } from '../../../api/policy/engines/cel-runtime.ts';
import { timeFunctions } from '../../../api/policy/engines/cel-time.ts';
import { Steps } from '../../../api/policy/steps.ts';
import { compiled, countedSteps, sampleRequest } from '../policies.ts';

/** Steps without an end that say how many were taken. */
class CountedSteps extends Steps {
  taken = 0;

  constructor() {
    super(Number.MAX_SAFE_INTEGER, () => ({ isOver: () => false }));
  }

  override take(count: number): void {
    this.taken += count;
    super.take(count);
  }
}

/** Functions of two texts that read each of them once; every other one may search one text for the other. */
const READ_ONCE = new Set([
  'startsWith',
  'endsWith',
  '_+_',
  '_==_',
  '_!=_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  '_[_]',
  '@in',
]);
/** `matches` takes a pattern in quotes, and its clock runs while it reads. */
const NOT_CALLED = new Set(['matches']);

const celFunctions = [
  ...new Set(
    [...celEnv({ funcs: [...strings, ...addressFunctions, ...timeFunctions()] }).funcs].map(({ name }) => name),
  ),
]
  .filter((name) => !NOT_CALLED.has(name))
  .flatMap((name) => celRuntime.functions(name));

/** A value of the type that a function takes; texts from the list, in order. */
function valueFor(type: string, texts: string[]): CelValue | undefined {
  if (type === 'string' || type === 'dyn') return texts.shift() ?? 'a';
  if (type === 'bytes') return Buffer.from(texts.shift() ?? 'a');
  const others: Readonly<Record<string, CelValue>> = {
    int: 1n,
    double: 1,
    bool: true,
    list: celList(['a']),
    map: celMap(new Map([['a', 1n]])),
  };
  return others[type];
}

/** Returns the steps that a call of a function with these texts takes, and its fault. */
function charged(func: CelFunc, first: string, second: string): { taken: number; read: number; fault: unknown } {
  const steps = new CountedSteps();
  const texts = [first, second];
  const values = [...(func.target === undefined ? [] : [func.target]), ...func.arguments].map(({ name }) =>
    valueFor(name.replace(/<.*/, ''), texts),
  );
  const given = values.filter((value) => value !== undefined);
  if (given.length < values.length) return { taken: 0, read: 0, fault: 'takes another type' };
  const read = first.length + second.length - texts.join('').length;
  const [target, ...others] = given;
  let fault: unknown;
  try {
    celRuntime.run({ steps, expressions: new Map() }, () =>
      func.target === undefined ? func.call(0, undefined, given) : func.call(0, target, others),
    );
  } catch (error) {
    fault = error;
  }
  return { taken: steps.taken, read, fault };
}

function signature({ name, target, arguments: takes }: CelFunc): string {
  const types = takes.map((type) => type.name).join(', ');
  return `${target === undefined ? '' : `${target.name}.`}${name}(${types})`;
}

const lengths = fc.constantFrom(1, 3, 40, 255, 256, 257, 3_000, 60_000);
const letters = fc.constantFrom('a', 'ab', '-', '1', ' ');

describe('steps that the functions of the engines take', () => {
  for (const func of celFunctions) {
    it(`cel: ${signature(func)}`, () => {
      // E-03: a search takes the product of both lengths, in one call that nothing interrupts.
      fc.assert(
        fc.property(lengths, lengths, letters, letters, (long, short, one, other) => {
          const first = one.repeat(long).slice(0, long);
          const second = `${other.repeat(short).slice(1, short)}b`;
          const { taken, read, fault } = charged(func, first, second);
          const isSearch = read === first.length + second.length && !READ_ONCE.has(func.name);
          if (isSearch && second.length > LONGEST_SOUGHT) expect(fault).to.match(/at most 256 characters/);
          else if (isSearch) expect(taken).to.be.at.least((first.length * second.length) / LONGEST_SOUGHT);
          else expect(taken).to.be.at.least(read / 64);
        }),
        { numRuns: 40 },
      );
    });
  }

  it('cel: the searches are among them', () => {
    const names = new Set(celFunctions.map(({ name }) => name));
    expect([...names]).to.include.members(['contains', 'indexOf', 'lastIndexOf', 'split', 'startsWith', 'join']);
  });

  /** Rules of a size, for a value of a size. A keyword that compares elements takes steps for each pair. */
  const keys = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `k${String(at)}`);
  const record = (count: number, member: unknown) => Object.fromEntries(keys(count).map((key) => [key, member]));
  const body = (rule: unknown) => ({ properties: { body: rule } });
  const rules: Readonly<Record<string, (size: number) => object>> = {
    'matcho $enum': (size) => ({ matcho: { body: { $every: { $not: { $enum: keys(size) } } } } }),
    'matcho $one-of': (size) => ({ matcho: { body: { $contains: { '$one-of': keys(size) } } } }),
    'matcho expression': (size) => ({ matcho: { body: { $contains: `#${'x'.repeat(size)}` } } }),
    'matcho text': (size) => ({ matcho: { body: { $contains: 'x'.repeat(size) } } }),
    'json-schema enum': (size) => ({ schema: body({ items: { not: { enum: keys(size) } } }) }),
    'json-schema const': (size) => ({ schema: body({ items: { not: { const: keys(size) } } }) }),
    'json-schema contains': (size) => ({ schema: body({ contains: { enum: keys(size) } }) }),
    'json-schema uniqueItems': () => ({ schema: body({ uniqueItems: true }) }),
    'json-schema pattern': (size) => ({ schema: body({ contains: { pattern: 'x'.repeat(size) } }) }),
    'cel in': (size) => ({ expression: `!body.exists(x, x in ${JSON.stringify(keys(size))})` }),
  };
  for (const [name, rule] of Object.entries(rules)) {
    it(`${name}: for each element and each operand`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 3_000 }), (size, count) => {
          const list = Array.from({ length: count }, (_, at) => `v${String(at)}`);
          const steps = new CountedSteps();
          const policy = compiled({ engine: name.split(' ')[0], ...rule(size) });
          expect(policy.fault).to.equal(undefined);
          policy.evaluate(sampleRequest({ body: list }), steps);
          expect(steps.taken).to.be.at.least((count * size) / LONGEST_SOUGHT);
        }),
        { numRuns: 30 },
      );
    });
  }

  it('json-schema: for each key and each operand of enum', () => {
    const steps = new CountedSteps();
    const policy = compiled({ engine: 'json-schema', schema: body({ enum: keys(40) }) });
    policy.evaluate(sampleRequest({ body: record(3_000, 1) }), steps);
    expect(steps.taken).to.be.at.least((3_000 * 40) / LONGEST_SOUGHT);
  });
});

describe('a search for a text of more than 256 characters', () => {
  const searches = ['contains(body.t)', 'indexOf(body.t) > -2', 'lastIndexOf(body.t) > -2', 'split(body.t).size() > 0'];
  const around: readonly ((call: string) => string)[] = [
    (call) => call,
    (call) => `${call} || true`,
    (call) => `(uri == "" && ${call}) || ${call} || true`,
    (call) => `!(${call} && false)`,
    (call) => `(${call}) ? true : true`,
    (call) => `(${call} || true) ? true : false`,
    (call) => `[1, 2].exists(x, ${call} || x == 2)`,
    (call) => `![1, 2].all(x, ${call} && false)`,
    (call) => `[1].map(x, ${call} || true).size() == 1`,
    (call) => `[[${call} || true]].exists_one(x, true)`,
  ];
  const evaluate = (fields: object, sought: number) =>
    compiled({ subjects: 'anyone', ...fields }).evaluate(
      sampleRequest({ body: { s: 'a'.repeat(1_000), t: 'a'.repeat(sought) } }),
      countedSteps(),
    );

  for (const search of searches) {
    it(`${search} grants nothing, whatever surrounds it`, () => {
      // E-03: CEL passes over an error in `||`, `&&` and macros; the end of the policy must not be passed over.
      for (const surround of around) {
        const expression = surround(`body.s.${search}`);
        const { granted, fault } = evaluate({ engine: 'cel', expression }, 257);
        expect(granted, expression).to.be.false;
        expect(fault, expression).to.match(/takes a text of at most 256 characters, and this one has 257/);
        expect(evaluate({ engine: 'cel', expression }, 256), expression).to.deep.equal({ granted: true });
      }
    });
  }

  it('ends a complex policy too', () => {
    const cel = { engine: 'cel', expression: 'body.s.contains(body.t)' };
    const allow = { engine: 'allow' };
    expect(evaluate({ engine: 'complex', or: [cel, allow] }, 257).granted).to.be.false;
    expect(evaluate({ engine: 'complex', or: [cel, allow] }, 256).granted).to.be.true;
  });

  it('is a fault of the policy when the text is written into it', () => {
    const { fault } = compiled({ engine: 'cel', expression: `uri.contains("${'a'.repeat(257)}")` });
    expect(fault).to.equal(
      'expression: is not valid in line 1, column 14: must be shorter: contains takes a text of at most 256 characters, and this one has 257',
    );
    expect(compiled({ engine: 'cel', expression: `uri.contains("${'a'.repeat(256)}")` }).fault).to.equal(undefined);
  });
});

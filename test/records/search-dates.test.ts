import { expect } from 'chai';
import { Problem } from '../../api/problem.ts';
import { readDates } from '../../api/records/search/values.ts';

const at = (text: string): number => Date.parse(text);

describe('readDates', () => {
  const cases: readonly (readonly [readonly string[], string | undefined, string | undefined])[] = [
    [['2026-01-31'], '2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z'],
    [['eq2026-01-31'], '2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z'],
    [['ge2026-01-31'], '2026-01-31T00:00:00Z', undefined],
    [['gt2026-01-31'], '2026-02-01T00:00:00Z', undefined],
    [['le2026-01-31'], undefined, '2026-02-01T00:00:00Z'],
    [['lt2026-01-31'], undefined, '2026-01-31T00:00:00Z'],
    [['2026-01-31T12:30:00Z'], '2026-01-31T12:30:00Z', '2026-01-31T12:30:01Z'],
    [['2026-01-31T12:30:00.25Z'], '2026-01-31T12:30:00.250Z', '2026-01-31T12:30:00.260Z'],
    [['2026-01-31T12:30:00.250Z'], '2026-01-31T12:30:00.250Z', '2026-01-31T12:30:00.251Z'],
    // E-22: as Python, .NET, Go and Java write a time.
    [['2026-01-31T12:30:00.250999Z'], '2026-01-31T12:30:00.250Z', '2026-01-31T12:30:00.251Z'],
    [['ge2026-01-31T12:30:00.2509991Z'], '2026-01-31T12:30:00.250Z', undefined],
    [['lt2026-01-31T12:30:00.250999999Z'], undefined, '2026-01-31T12:30:00.250Z'],
    [['ge2026-01-31T12:30:00+02:00'], '2026-01-31T10:30:00Z', undefined],
    [['ge2026-01-01', 'lt2026-02-01'], '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    [['ge2026-01-01', 'ge2026-01-05', 'lt2026-02-01', 'le2026-01-07'], '2026-01-05T00:00:00Z', '2026-01-08T00:00:00Z'],
    [['gt2026-02-01', 'lt2026-01-01'], '2026-02-02T00:00:00Z', '2026-01-01T00:00:00Z'],
  ];
  for (const [texts, from, to] of cases) {
    it(`reads ${texts.join(' and ')}`, () => {
      expect(readDates('created_at', texts)).to.deep.equal({ from: from && at(from), to: to && at(to) });
    });
  }

  const refused = [
    '',
    'ge',
    'yesterday',
    '2026',
    '2026-01',
    '2026-1-1',
    'ne2026-01-01',
    '2026-02-31',
    '2026-13-01',
    '2026-01-01T00:00:00',
    '2026-01-01T24:30:00Z',
    '2026-01-01T00:00Z',
    "2026-01-01' OR 1=1 --",
    'ge2026-01-01T00:00:00 02:00',
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => readDates('created_at', [text])).to.throw(Problem, 'created_at must be a date such as');
    });
  }

  it('says what became of a plus sign in a query', () => {
    expect(() => readDates('x', ['ge2026-01-01T00:00:00 02:00'])).to.throw(Problem, 'write + as %2B');
  });
});

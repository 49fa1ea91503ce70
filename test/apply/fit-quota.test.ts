import { expect } from 'chai';
import { mostBytes } from '../../api/apply/fit-quota.ts';
import { boxDatabase, type BoxDatabase } from '../records/box-database.ts';

describe('the most bytes of a resource', () => {
  let database: BoxDatabase;
  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  const values: Readonly<Record<string, unknown>> = {
    'many short members': Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [String(nth), [nth, [], {}]])),
    'text of three bytes a character': { text: '\u4e2d'.repeat(1_000) },
    'text with escapes': { text: '\u0001"\\\n\u007f\u2028'.repeat(1_000) },
    'numbers as they are': [0.000001, 123456789012345680000, -0, 1.5],
    'numbers with an exponent': [5e-324, 1.7976931348623157e308, -1e21, 1.5e-7],
  };
  for (const [what, value] of Object.entries(values)) {
    it(`R-53 is never below what Postgres counts: ${what}`, async () => {
      const text = JSON.stringify(value);
      const { rows } = await database.owner.query<{ bytes: string }>('SELECT boxgate.bytes_of($1::jsonb) AS bytes', [
        text,
      ]);
      expect(Number(rows[0]?.bytes)).to.be.at.most(mostBytes(text));
    });
  }

  it('R-53 is at most twice the text where it has no number with an exponent', () => {
    const text = JSON.stringify({ text: 'x'.repeat(1_000), number: 12 });
    expect(mostBytes(text)).to.equal(2 * text.length);
  });
});

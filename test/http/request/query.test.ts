import { expect } from 'chai';
import { MOST_PARAMETERS, queryOf } from '../../../api/http/request/query.ts';
import { Problem } from '../../../api/problem.ts';

describe('query of a path', () => {
  it('has the parameters behind the first question mark', () => {
    expect([...queryOf('/a')]).to.deep.equal([]);
    expect([...queryOf('/a?b=1&b=2?')]).to.deep.equal([
      ['b', '1'],
      ['b', '2?'],
    ]);
  });

  it('R-13 has a bounded number of parameters', () => {
    const pathOf = (count: number) => `/a?${Array(count).fill('b').join('&')}`;
    expect(queryOf(pathOf(MOST_PARAMETERS)).size).to.equal(MOST_PARAMETERS);
    expect(() => queryOf(pathOf(MOST_PARAMETERS + 1))).to.throw(Problem);
  });
});

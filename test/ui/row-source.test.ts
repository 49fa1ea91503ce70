import { expect } from 'chai';
import { apiPath } from '../../api/ui/connection/api-path.ts';
import { inOrder, matching, nextPage, titleOf, united } from '../../api/ui/rows/row-source.ts';

const row = (id: string, ...cells: string[]) => ({ id, cells });
const rows = [row('1', 'Ann@shop.example', 'staff'), row('2', 'bob@shop.example', 'staff · admins'), row('3', '.*')];

describe('the rows of a list', () => {
  it('match by each word of the filter, in any case, in cells and ID', () => {
    const ids = (text: string) => matching(rows, text).map(({ id }) => id);
    expect(ids('')).to.deep.equal(['1', '2', '3']);
    expect(ids('ANN')).to.deep.equal(['1']);
    expect(ids('staff shop')).to.deep.equal(['1', '2']);
    expect(ids(' admins  bob ')).to.deep.equal(['2']);
    expect(ids('nobody')).to.deep.equal([]);
  });

  it('W-03 take a filter as text, never as a pattern', () => {
    expect(matching(rows, '.*').map(({ id }) => id)).to.deep.equal(['3']);
    for (const text of ['(a+)+$', '[', '\\', '^', '$&', '(?=x)', '*'])
      expect(matching([row('x', `a ${text} b`)], text), text).to.have.length(1);
  });

  it('are united by ID', () => {
    expect(united(rows, [row('2', 'other'), row('4', 'new')]).map(titleOf)).to.deep.equal([
      'Ann@shop.example',
      'bob@shop.example',
      '.*',
      'new',
    ]);
  });

  it('are sorted by a column in either direction, numbers as numbers and times in their order', () => {
    const some = [
      { id: 'a', cells: ['10', { time: '2026-01-02T00:00:00.000Z' }] },
      { id: 'b', cells: ['9', { time: '2025-12-31T00:00:00.000Z' }] },
    ];
    const ids = (column: number, isDescending: boolean) => inOrder(some, { column, isDescending }).map(({ id }) => id);
    expect(ids(0, false)).to.deep.equal(['b', 'a']);
    expect(ids(0, true)).to.deep.equal(['a', 'b']);
    expect(ids(1, false)).to.deep.equal(['b', 'a']);
    expect(inOrder(some, undefined)).to.equal(some);
  });

  it('go on at the next page that a Link header names', () => {
    const link =
      '<https://a.example/boxes/x/users?_count=2>; rel="first", <https://a.example/boxes/x/users?_count=2&_page=n1>; rel="next"';
    expect(nextPage(apiPath`/users?_count=2`, link)).to.equal('/users?_count=2&_page=n1');
    expect(nextPage(apiPath`/users?_count=2`, '<https://a.example/users?_page=last>; rel="last"')).to.equal(undefined);
    expect(nextPage(apiPath`/users`, null)).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { retiredLines } from './retired-lines.ts';

const body = (name: string) => [`CREATE FUNCTION boxgate.${name}()`, 'AS $$', `  SELECT '${name}'`, '$$;'];

/** The retired lines of the first migration, which creates two functions, before another migration. */
const retired = (...later: string[]) => {
  const [first] = retiredLines([[...body('one'), 'GRANT x;', ...body('two'), 'GRANT y;'], later]);
  return [...(first ?? [])];
};

describe('the lines of migrations that have no effect', () => {
  it('are those of a function that a later migration creates again', () => {
    expect(retired('CREATE OR REPLACE FUNCTION boxgate.two()', 'AS $$', '  SELECT 2', '$$;')).to.deep.equal([
      5, 6, 7, 8,
    ]);
  });

  it('are those of a function that a later migration drops', () => {
    expect(retired('DROP FUNCTION boxgate.one();')).to.deep.equal([0, 1, 2, 3]);
  });

  it('are not those of the last migration that creates the function', () => {
    const last = retiredLines([body('one'), body('one')]).at(-1);
    expect([...(last ?? [])]).to.deep.equal([]);
  });

  it('are not those of a function whose name only begins alike', () => {
    expect(retired(...body('one_more'))).to.deep.equal([]);
  });

  it('are not those outside of functions', () => {
    const [first] = retiredLines([['CREATE TABLE x ();', ...body('one')], body('one')]);
    expect([...(first ?? [])]).to.deep.equal([1, 2, 3, 4]);
  });
});

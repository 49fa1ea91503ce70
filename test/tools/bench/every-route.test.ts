import { expect } from 'chai';
import { routes } from '../../../api/app.ts';
import { grants } from '../../../api/oauth/token/grants/registry.ts';
import { nameOf } from '../../../tools/bench/routes/row.ts';
import { routeRows } from '../../../tools/bench/scenarios/every-route.ts';

describe('the bench of every route', () => {
  it('has a row for each route of the API, and none for another', () => {
    const rows = new Set(routeRows.map(({ route }) => route));
    expect([...rows].toSorted()).to.deep.equal(routes.map(([method, path]) => `${method} ${path}`).toSorted());
  });

  for (const grant of grants.keys()) {
    it(`has a row for the grant ${grant}`, () => {
      const variants = routeRows.flatMap(({ route, variant = '' }) => (route === 'POST /auth/token' ? [variant] : []));
      expect(variants.filter((variant) => variant.split(', ')[0] === grant)).not.to.have.length(0);
    });
  }

  it('has a name of its own for each row', () => {
    const names = routeRows.map(nameOf);
    expect(new Set(names).size).to.equal(names.length);
  });
});

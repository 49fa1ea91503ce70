import { expect } from 'chai';
import { twoDatabases } from './two-databases.ts';
import type { TwoDatabases } from './two-databases.ts';

describe('boxes on several databases', () => {
  let both: TwoDatabases;

  before(async () => {
    both = await twoDatabases();
  });
  after(() => both.end());

  it('serves a box from the database that its Namespace wants, and one without a wish from home', async () => {
    expect(await both.declare('far', { database: 'eu' })).to.include({ box: 'far', database: 'eu' });
    expect(await both.declare('near')).to.include({ box: 'near', database: 'home' });
    for (const box of ['far', 'near']) expect((await both.token(box)).status).to.equal(200);
  });

  it('refuses a wish for a database that there is not', async () => {
    expect(await both.declare('lost', { database: 'us' })).to.deep.equal({
      error: 'There is no database us; the databases are home, eu',
      code: 'unknown-database',
    });
  });

  it('moves a box there and back: tokens issued before are valid after, and new ones are issued', async () => {
    await both.declare('moving');
    const tokens = [await both.issued('moving')];
    for (const database of ['eu', 'home', 'eu']) {
      expect(await both.move('moving', database)).to.deep.equal({ database, moved: true });
      tokens.push(await both.issued('moving'));
      for (const token of tokens) {
        expect(await (await both.introspect('moving', token)).json()).to.include({ active: true });
      }
      expect(await both.declare('moving')).to.include({ database });
    }
  });
});

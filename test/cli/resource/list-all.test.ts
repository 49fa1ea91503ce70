import { expect } from 'chai';
import { startServedBoxctl, type ServedBoxctl } from '../boxctl.ts';

describe('a list of boxctl', () => {
  /** More than a function takes as arguments. */
  const MANY = 200_000;
  let served: ServedBoxctl;

  before(async () => {
    const entry = { kind: 'Group', id: '1', resource: {} };
    const body = JSON.stringify(Array.from({ length: MANY }, () => entry));
    served = await startServedBoxctl((_request, response) => response.end(body));
  });
  after(() => served.end());

  for (const line of ['user list', 'client list'])
    it(`${line} prints a page of any length`, async () => {
      const { code, output } = await served.boxctl.run([...line.split(' '), '--output', 'table']);
      expect(code).to.equal(0);
      expect(output.split('\n')).to.have.length(MANY + 2);
    });

  it('export reads a page of any length', async () => {
    expect(await served.boxctl.run(['export', '--output', 'json'])).to.include({ code: 0 });
  });
});

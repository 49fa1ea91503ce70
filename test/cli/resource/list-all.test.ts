import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { isObject } from '../../../crds/json-value.ts';
import { startBoxctl, type Boxctl } from '../boxctl.ts';

describe('a list of boxctl', () => {
  /** More than a function takes as arguments. */
  const MANY = 200_000;
  let server: Server;
  let boxctl: Boxctl;

  before(async () => {
    const entry = { kind: 'Group', id: '1', resource: {} };
    const body = JSON.stringify(Array.from({ length: MANY }, () => entry));
    server = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${String(isObject(address) ? address['port'] : '')}`;
    boxctl = await startBoxctl({ BOXCTL_SERVER: url, BOXCTL_BOX: 'shop', BOXCTL_TOKEN: 'x' });
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await boxctl.remove();
  });

  for (const line of ['user list', 'client list'])
    it(`${line} prints a page of any length`, async () => {
      const { code, output } = await boxctl.run([...line.split(' '), '--output', 'table']);
      expect(code).to.equal(0);
      expect(output.split('\n')).to.have.length(MANY + 2);
    });

  it('export reads a page of any length', async () => {
    expect(await boxctl.run(['export', '--output', 'json'])).to.include({ code: 0 });
  });
});

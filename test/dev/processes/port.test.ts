import { expect } from 'chai';
import { createServer, type Server } from 'node:net';
import { freePort } from '../../../dev/processes/port.ts';
import { ownPort } from '../../support/own-port.ts';

/** A port that something else listens on. */
async function occupied(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  const port = await ownPort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { port, server };
}

describe('freePort', () => {
  it('gives the wanted port when it is free, and any free one for 0', async () => {
    const port = await ownPort();
    expect(await freePort(0, '--port')).to.be.greaterThan(0);
    expect(await freePort(port, '--port')).to.equal(port);
  });

  it('says which port is in use, and what to do', async () => {
    const { port, server } = await occupied();
    const refused = await freePort(port, '--management-port').catch((error: unknown) => error);
    server.close();
    const sentence = `Port ${String(port)} is in use; choose another with --management-port (0: any free one)`;
    expect(refused).to.be.instanceOf(Error).and.to.include({ message: sentence });
  });

  it('waits for a port that somebody is about to leave', async () => {
    const { port, server } = await occupied();
    const waiting = freePort(port, '--port', 20_000);
    setTimeout(() => server.close(), 120);
    expect(await waiting).to.equal(port);
  });
});

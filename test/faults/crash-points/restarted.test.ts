import { expect } from 'chai';
import { startLoggedProcess, type LoggedProcess } from '../../support/logged-process.ts';
import { startRestarted, type Started } from './restarted.ts';

const program = ['-e', 'console.log("here"); setInterval(() => {}, 1e6)'];

async function start(): Promise<Started<LoggedProcess>> {
  const process = await startLoggedProcess(program, {}, (line) => (line === 'here' ? line : undefined));
  return {
    process,
    isCrashed: () => false,
    async end() {
      await process.end('SIGKILL');
    },
  };
}

describe('a process that is started again', () => {
  it('says which one ended that nobody meant to end', async () => {
    const restarted = await startRestarted({ name: 'program', start });
    const { process: first } = restarted.serving();
    first.signal('SIGKILL');
    await first.ended;
    expect((await restarted.present()).pid).to.not.equal(first.pid);
    expect(restarted.unplanned()).to.deep.equal(['I11 the program ended: here']);
    expect(restarted.unplanned()).to.deep.equal([]);
    await restarted.end();
  });

  it('tries again after a start that failed, and tells why', async () => {
    let failures = 0;
    const restarted = await startRestarted({
      name: 'program',
      start,
      begin: () =>
        failures > 0 ? Promise.reject(new Error(`it has no place: ${String(failures--)}`)) : Promise.resolve(),
    });
    failures = 2;
    const { process: first } = restarted.serving();
    await first.end('SIGKILL');
    for (const left of [2, 1]) {
      const told = await restarted.present().catch((error: unknown) => error);
      expect(told).to.have.property('message', `it has no place: ${String(left)}`);
    }
    expect((await restarted.present()).hasEnded()).to.equal(false);
    await restarted.end();
  });
});

import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { controlPlane } from '../../../support/cluster/control-plane.ts';

const caller = fileURLToPath(new URL('aborting-caller.ts', import.meta.url));

describe('a call with a body that is aborted at once', () => {
  it('leaves the process free to run everything else', async () => {
    const { url, certificate } = await controlPlane();
    // A process of its own: one that spins can only be killed.
    const output = await new Promise<string>((resolve) => {
      const options = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
      execFile(process.execPath, [caller, url, certificate], options, (error, stdout, stderr) =>
        resolve(error === null ? stdout : `${error.message}${stderr}`),
      );
    });
    expect(output).to.equal('all calls have ended\n');
  });
});

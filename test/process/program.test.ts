import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const boxgate = fileURLToPath(new URL('../../dev/main.ts', import.meta.url));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs `boxgate` with no setting at all. */
function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [boxgate, ...args], { env: {} }, (_error, out, error) => {
      resolve({ code: child.exitCode ?? -1, out, error });
    });
  });
}

describe('the programs', () => {
  for (const program of ['api', 'migrate', 'operator']) {
    for (const asked of ['--help', '-h', 'help']) {
      it(`boxgate ${program} ${asked}: the usage on standard output, and 0`, async () => {
        const { code, out, error } = await run([program, asked]);
        expect({ code, error }).to.deep.equal({ code: 0, error: '' });
        expect(out).to.contain(`boxgate ${program} `);
      });
    }

    it(`boxgate ${program} --nonsense: the usage on standard error, and 2`, async () => {
      const { code, out, error } = await run([program, '--nonsense']);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(error)
        .to.match(/^Usage: /)
        .and.contain(`boxgate ${program} `);
    });

    it(`boxgate ${program} without a setting: a sentence that names what is missing, and 1`, async () => {
      const { code, out, error } = await run([program]);
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(error)
        .to.match(/BOXGATE_\w+/)
        .and.not.contain('Usage');
    });
  }
});

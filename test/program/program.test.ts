import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const boxgate = fileURLToPath(new URL('../../dev/main.ts', import.meta.url));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs `boxgate` with no setting but these. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [boxgate, ...args], { env }, (_error, out, error) => {
      resolve({ code: child.exitCode ?? -1, out, error });
    });
  });
}

describe('the programs', () => {
  for (const [args, meant] of [
    [['migrat'], 'migrate'],
    [['Operator'], 'operator'],
    [['--hepl'], '--help'],
    [['operator', '--release-finalizer'], 'operator --release-finalizers'],
  ] as const) {
    it(`boxgate ${args.join(' ')}: the command that is probably meant, before the usage, and 2`, async () => {
      const { code, out, error } = await run(args);
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(error)
        .to.match(/^boxgate: .*\n\nUsage: /)
        .and.contain(`Did you mean \`${meant}\`?`);
    });
  }

  for (const [program, misspelled, meant] of [
    ['api', 'BOXGATE_DATABASE_UR', 'BOXGATE_DATABASE_URL'],
    ['migrate', 'BOXGATE_OWNR_URL', 'BOXGATE_OWNER_URL'],
    ['operator', 'BOXGATE_MANAGEMENT_ULR', 'BOXGATE_MANAGEMENT_URL'],
  ] as const) {
    it(`boxgate ${program} with ${misspelled}: the setting that is probably meant, without the value`, async () => {
      const { code, error } = await run([program], { [misspelled]: 'postgres://sesame@db/x' });
      expect(code).to.equal(1);
      expect(error).to.contain(`${misspelled} is ignored`).and.contain(`Did you mean \`${meant}\`?`);
      expect(error).not.to.contain('sesame');
    });
  }

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

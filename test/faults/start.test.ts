import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import type { Environment } from '../../program/environment.ts';
import { testEncryptionKey } from '../support/api.ts';
import { inherited } from '../support/child-program.ts';
import { asOwner, bareDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { portOf } from '../../program/environment.ts';

/** Exit code and output of a run of the API's program. */
interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], environment: Environment): Promise<Run> {
  return new Promise((resolve) => {
    const env = { ...inherited, ...environment };
    execFile(process.execPath, ['api/main.ts', ...args], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

describe('the API’s program', () => {
  let database: TestDatabase;

  before(async () => {
    database = await bareDatabase();
  });
  after(() => database.drop());

  function settings(over: Environment = {}): Environment {
    return {
      BOXGATE_DATABASE_URL: database.apiUrl,
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_PORT: '0',
      BOXGATE_MANAGEMENT_PORT: '0',
      BOXGATE_MANAGEMENT_KEYS: 'a-management-key',
      BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
      BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      ...over,
    };
  }

  /** One sentence, no stack, nothing of a password. */
  function expectRefused({ code, stderr }: Run, sentence: RegExp): void {
    expect(code, stderr).to.equal(1);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr).to.match(sentence);
    expect(stderr).to.not.include(new URL(database.apiUrl).password);
  }

  it('with wrong settings tells every mistake, a line each, and ends with 1', async () => {
    const wrong = { BOXGATE_PORT: 'x', BOXGATE_STANDALONE: 'y', BOXGATE_POOL_SIZE: '0', BOXGATE_ENCRYPTION_KEY: 'z' };
    const { code, stdout, stderr } = await run(['api'], settings({ ...wrong, BOXGATE_PUBLIC_URL: '' }));
    expect(code).to.equal(1);
    expect(stdout).to.equal('');
    const lines = stderr.trimEnd().split('\n');
    expect(lines.map((line) => /^boxgate: (BOXGATE_\w+) (must|is missing)/.exec(line)?.[1])).to.have.members([
      ...Object.keys(wrong),
      'BOXGATE_PUBLIC_URL',
    ]);
  });

  it('without a command shows the usage and ends with 2', async () => {
    const { code, stderr, stdout } = await run([], {});
    expect(code).to.equal(2);
    expect(stderr).to.match(/^Usage: boxgate api/);
    expect(stdout).to.equal('');
  });

  it('migrates and says what it did; on a port that is taken it does not serve', async () => {
    const urls = { BOXGATE_OWNER_URL: database.ownerUrl, BOXGATE_DATABASE_URL: database.apiUrl };
    const migrated = await run(['migrate'], urls);
    expect(migrated, migrated.stderr).to.include({ code: 0, stderr: '' });
    expect(migrated.stdout).to.match(/^schema \d+: applied schema\.sql\n$/);
    expect((await run(['migrate'], urls)).stdout).to.match(/^schema \d+: nothing to do\n$/);
    const taken = createServer();
    const port = await new Promise<string>((resolve) => {
      taken.listen(0, '127.0.0.1', () => {
        resolve(String(portOf(taken)));
      });
    });
    const said = await run(['api'], settings({ BOXGATE_PORT: port }));
    taken.close();
    expectRefused(said, new RegExp(`^boxgate: Port ${port} of 127.0.0.1 is in use`));
    expect(said.stdout, 'what it had logged until then').to.include('"msg":"session buckets"');
  });

  it('with the encryption key of another installation names the setting and ends with 1', async () => {
    await asOwner(new URL(database.ownerUrl).pathname.slice(1), async (owner) => {
      await owner.query(`INSERT INTO boxgate.box (box) VALUES ('default');
        INSERT INTO boxgate.signing_key (box, kid, algorithm, public_jwk, private_key, active_from, signed_until)
        VALUES ('default', 'k', 'ES256', '{}', sha256('sealed by another'), now(), now())`);
    });
    expectRefused(await run(['api'], settings()), /^boxgate: BOXGATE_ENCRYPTION_KEY holds no key that opens /);
  });

  it('X-15 that does not wait for Postgres says in one sentence that it is away, and ends with 1', async () => {
    const away = new URL(database.apiUrl);
    away.port = '1';
    const settled = settings({ BOXGATE_DATABASE_URL: away.href, BOXGATE_WAIT_FOR_DATABASE: 'false' });
    expectRefused(await run(['api'], settled), /Postgres cannot answer now/);
  });

  const unusable: readonly (readonly [what: string, over: Environment, sentence: RegExp])[] = [
    [
      'an owner of the tables as its role',
      { BOXGATE_DATABASE_URL: 'owner' },
      /which row-level security does not bind: use/,
    ],
    [
      'an encryption key of the wrong length',
      { BOXGATE_ENCRYPTION_KEY: 'AAAA' },
      /^boxgate: BOXGATE_ENCRYPTION_KEY must hold/,
    ],
    [
      'a management key of the wrong length',
      { BOXGATE_MANAGEMENT_KEYS: 'short' },
      /^boxgate: BOXGATE_MANAGEMENT_KEYS must/,
    ],
    ['an empty Secret', { BOXGATE_MANAGEMENT_KEYS: '' }, /^boxgate: BOXGATE_MANAGEMENT_KEYS is missing: it must hold/],
    [
      'a certificate that is not mounted',
      { BOXGATE_MANAGEMENT_TLS_FOLDER: '/nowhere' },
      /^boxgate: BOXGATE_MANAGEMENT_TLS_FOLDER: tls.crt cannot be read \(ENOENT\); mount a Secret/,
    ],
  ];
  for (const [what, over, sentence] of unusable) {
    it(`with ${what} says so in one sentence and ends with 1`, async () => {
      const url = over['BOXGATE_DATABASE_URL'] === 'owner' ? { BOXGATE_DATABASE_URL: database.ownerUrl } : {};
      expectRefused(await run(['api'], settings({ ...over, ...url })), sentence);
    });
  }
});

import { expect } from 'chai';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../../dev/processes/embedded-postgres.ts';

describe('startEmbeddedPostgres', () => {
  let folder = '';
  let dataDir = '';
  let logFile = '';

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-log-'));
    chmodSync(folder, 0o711);
    dataDir = path.join(folder, 'data');
    logFile = path.join(folder, 'postgres.log');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('logs to a file that nobody else can read: a statement that fails is in it as it was sent', async () => {
    const server = await startEmbeddedPostgres({ dataDir, password: 'p', logFile });
    await server.stop();
    expect(statSync(logFile).mode & 0o777).to.equal(0o600);
  });

  async function refusal(): Promise<string> {
    const refused: unknown = await startEmbeddedPostgres({ dataDir, password: 'p', logFile }).catch(
      (error: unknown) => error,
    );
    return refused instanceof Error ? refused.message : 'it was started';
  }

  it('removes nothing that is in the place of its data and is none', async () => {
    mkdirSync(dataDir);
    writeFileSync(path.join(dataDir, 'precious'), '');
    expect(await refusal()).to.equal(`${dataDir} is damaged: it is no data of Postgres; restore or remove it`);
    expect(readdirSync(dataDir)).to.deep.equal(['precious']);
  });

  it('removes no file in the place of its data', async () => {
    writeFileSync(dataDir, '');
    expect(await refusal()).to.equal(`${dataDir} cannot be read: it is not a folder`);
    expect(existsSync(dataDir)).to.equal(true);
  });
});

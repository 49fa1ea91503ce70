import { expect } from 'chai';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../standalone/embedded-postgres.ts';

describe('startEmbeddedPostgres', () => {
  it('logs to a file that nobody else can read: a statement that fails stands in it as it was sent', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-log-'));
    chmodSync(folder, 0o711);
    try {
      const logFile = path.join(folder, 'postgres.log');
      const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'data'), password: 'p', logFile });
      await server.stop();
      expect(statSync(logFile).mode & 0o777).to.equal(0o600);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { expect } from 'chai';
import { copyFileSync } from 'node:fs';
import { migrate } from '../../api/db/core/migrate.ts';
import { eventually } from '../support/eventually.ts';
import { testEncryptionKey } from '../support/api.ts';
import { asOwner, freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { familyOf, isRunning, signalAll } from '../support/processes.ts';
import { startBoxgate } from './boxgate-process.ts';
import { urlsOf } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

// An old Node starts the pinned one as its child, npx a shell; killed, they can tell it nothing any more.
describe('a command whose launcher is killed', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  let oldNode: readonly [string, ...string[]];

  before(async () => {
    folder = temporaryFolder();
    copyFileSync(process.execPath, folder.path('node'));
    folder.write('old.cjs', 'delete process.execve;');
    folder.write('manifests/client.yaml', clientYaml('client'));
    oldNode = [folder.path('node'), '--require', folder.path('old.cjs'), 'dev/boxgate.cjs'];
    database = await freshDatabase();
  });
  after(async () => {
    folder.remove();
    await database.drop();
  });

  /** Kills the launcher alone, and waits until all that it had started is gone. */
  async function killed(boxgate: ReturnType<typeof startBoxgate>): Promise<void> {
    const family = familyOf(boxgate.pid);
    expect(family.length, 'the launcher and its child').to.be.greaterThan(1);
    try {
      process.kill(boxgate.pid, 'SIGKILL');
      await eventually('nothing of it is left', () => !family.some(isRunning));
    } finally {
      signalAll(family, 'SIGKILL');
    }
    expect(await boxgate.ended).to.equal('SIGKILL');
  }

  it('boxgate api stops gracefully', async () => {
    const api = startBoxgate(['api'], {
      command: oldNode,
      environment: {
        BOXGATE_DATABASE_URL: database.apiUrl,
        BOXGATE_HOST: '127.0.0.1',
        BOXGATE_PORT: '0',
        BOXGATE_MANAGEMENT_PORT: '0',
        BOXGATE_MANAGEMENT_KEYS: 'a-management-key-of-a-test',
        BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
        BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      },
    });
    await api.said(/"msg":"listening"/);
    await killed(api);
    expect(api.stdout).to.include('"msg":"stopped"');
  });

  it('boxgate migrate ends, also while it waits for another run', async () => {
    const name = new URL(database.ownerUrl).pathname.slice(1);
    await asOwner(name, async (other) => {
      await other.query("SELECT pg_advisory_lock(hashtext('boxgate.migrate'))");
      const environment = { BOXGATE_OWNER_URL: database.ownerUrl, BOXGATE_DATABASE_URL: database.apiUrl };
      const run = startBoxgate(['migrate'], { command: oldNode, environment });
      await eventually('the run waits', async () => {
        const { rows } = await other.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
        );
        return rows.length === 1;
      });
      await killed(run);
    });
    expect(await migrate(database.ownerUrl, 'boxgate_api')).to.deep.include({ applied: [] });
  });

  it('boxgate dev ends with its API', async () => {
    const args = ['dev', folder.path('manifests'), '--port', '0', '--management-port', '0'];
    const dev = startBoxgate([...args, ...urlsOf(database)], { command: oldNode });
    await dev.said(/^ready /m);
    await killed(dev);
  });

  it('boxgate dev ends with npx, which tells only the shell between them that it has to end', async () => {
    const args = ['dev', folder.path('manifests'), '--port', '0', '--management-port', '0'];
    const dev = startBoxgate([...args, ...urlsOf(database)], { command: ['npx', 'boxgate'] });
    await dev.said(/^ready /m);
    const family = familyOf(dev.pid);
    await dev.end('SIGTERM');
    await eventually('nothing of it is left', () => !family.some(isRunning));
  });
});

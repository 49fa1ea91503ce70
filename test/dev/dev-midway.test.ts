import { expect } from 'chai';
import { existsSync, readdirSync } from 'node:fs';
import type pg from 'pg';
import { eventually } from '../support/eventually.ts';
import { asOwner, freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { familyOf, signalAll } from '../support/processes.ts';
import { runBoxgate, startBoxgate } from './boxgate-process.ts';
import { anyPorts, startDev, urlsOf } from './dev-process.ts';
import { clientYaml, policyYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('boxgate dev, killed while it applies', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;

  before(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
  });
  after(async () => {
    folder.remove();
    await database.drop();
  });

  const names = Array.from({ length: 60 }, (_, index) => `policy-${String(index + 10)}`);

  /** All policies in one file, so that one reading of the folder has them all. */
  function declare(revision: string): void {
    const yaml = names.map((name) => policyYaml(name).replace('spec:\n', `spec:\n  description: ${revision}\n`));
    folder.save('policies.yaml', yaml.join('---\n'));
  }

  async function revisions(owner: pg.Client): Promise<readonly unknown[]> {
    const { rows } = await owner.query<{ revision: string; policies: number }>(
      `SELECT body ->> 'description' AS revision, count(*)::integer AS policies
         FROM boxgate.resource WHERE kind = 'AccessPolicy' GROUP BY 1 ORDER BY 1`,
    );
    return rows;
  }

  it('leaves the box as it was, and the next one applies all', async () => {
    declare('before');
    const args = urlsOf(database);
    const killed = await startDev(folder.root, args);
    await asOwner(new URL(database.ownerUrl).pathname.slice(1), async (owner) => {
      // One row that cannot be changed now holds up the transaction in which all are.
      await owner.query('BEGIN');
      await owner.query(`SELECT FROM boxgate.resource WHERE id = $1 FOR UPDATE`, [names.at(-1)]);
      declare('after');
      await eventually('the change waits for the row', async () => (await backends(owner, 'Lock')) > 0);
      signalAll(familyOf(killed.boxgate.pid), 'SIGKILL');
      await killed.boxgate.ended;
      await owner.query('ROLLBACK');
      await eventually('nobody is connected any more', async () => (await backends(owner)) === 0);
      expect(await revisions(owner)).to.deep.equal([{ revision: 'before', policies: names.length }]);

      const { boxgate } = await startDev(folder.root, args);
      expect(await revisions(owner)).to.deep.equal([{ revision: 'after', policies: names.length }]);
      expect(await boxgate.end()).to.equal(0);
    });
  });
});

describe('boxgate dev, killed at its first start', () => {
  let folder: TemporaryFolder;

  before(() => {
    folder = temporaryFolder();
    folder.write('client.yaml', clientYaml('client'));
  });
  after(() => folder.remove());

  /**
   * Kills it alone when something like this has appeared in its state folder: what it has started goes on for a while.
   */
  async function killedAt(what: RegExp): Promise<void> {
    const dev = startBoxgate(['dev', folder.root, ...anyPorts]);
    await eventually(`${String(what)} is there`, () => {
      return (
        existsSync(folder.path('.boxgate')) && readdirSync(folder.path('.boxgate')).some((name) => what.test(name))
      );
    });
    expect(await dev.end('SIGKILL')).to.equal('SIGKILL');
  }

  const drafts = (): readonly string[] => {
    return readdirSync(folder.path('.boxgate')).filter((name) => name.includes('.new'));
  };

  it('begins again beside what the killed one had started', async () => {
    await killedAt(/^data\.new/);
    await killedAt(/^api\.log$/);
    const { code, stdout, stderr } = await runBoxgate(['dev', folder.root, ...anyPorts, '--once']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/client\.boxgate\.dev\/client .* True /);
    // What the initdb of the killed one still wrote to stays for the next start.
    await eventually('nothing is left of it', async () => {
      if (drafts().length > 0) await runBoxgate(['dev', folder.root, ...anyPorts, '--once']);
      return drafts().length === 0;
    });
  });
});

/** Connections to the database beside the one that asks; those that wait for something of a sort. */
async function backends(owner: pg.Client, sort?: string): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ($1::text IS NULL OR wait_event_type = $1)`,
    [sort],
  );
  return rows[0]?.count ?? 0;
}

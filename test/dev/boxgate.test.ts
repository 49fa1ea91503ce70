import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { familyOf, isRunning } from '../support/processes.ts';
import { startBoxgate } from './boxgate-process.ts';
import { anyPorts, urlsOf } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

/** Tells its arguments and its plugin, or ends as it is told. */
const program = `
const [what, ...args] = process.argv.slice(2);
if (what === 'fail') process.exit(7);
console.log(JSON.stringify([...args, process.env.BOXCTL_PLUGIN ?? '']));
`;

/** The machine has neither npm nor a Node.js of its own. */
const env = { PATH: '/usr/bin:/bin' };

describe('the commands at the top of a checkout', () => {
  let folder: TemporaryFolder;

  before(() => {
    folder = temporaryFolder();
    for (const place of ['a checkout/dev', 'a checkout/api/cli', 'a checkout/node_modules/node/bin', 'links'])
      mkdirSync(folder.path(place), { recursive: true });
    symlinkSync(process.execPath, folder.path('a checkout/node_modules/node/bin/node'));
    for (const checkout of ['a checkout', 'bare'])
      for (const file of ['dev/main.ts', 'api/cli/main.ts']) folder.write(`${checkout}/${file}`, program);
    for (const command of ['boxgate', 'boxctl']) {
      copyFileSync(command, folder.path('a checkout', command));
      copyFileSync(command, folder.path('bare', command));
      symlinkSync(`../a checkout/${command}`, folder.path('links', command));
    }
    symlinkSync('../a checkout/boxctl', folder.path('links/kubectl-boxgate'));
  });
  after(() => folder.remove());

  for (const command of ['boxgate', 'boxctl']) {
    for (const place of ['a checkout', 'links']) {
      it(`${command} in ${place} passes the arguments on as they are, and ends with the code of the program`, () => {
        const file = folder.path(place, command);
        const told = spawnSync(file, ['tell', 'two words', '--port=0', ''], { cwd: '/', env, encoding: 'utf8' });
        expect([told.stdout, told.stderr]).to.deep.equal(['["two words","--port=0","",""]\n', '']);
        expect(spawnSync(file, ['fail'], { cwd: '/', env }).status).to.equal(7);
      });
    }

    it(`${command} says what to do where the packages are not installed`, () => {
      const { status, stderr } = spawnSync(folder.path('bare', command), ['--help'], { env, encoding: 'utf8' });
      const bare = folder.path('bare');
      expect([status, stderr]).to.deep.equal([
        1,
        `${command}: its Node.js is not installed. Run \`npm ci\` in ${bare} first.\n`,
      ]);
    });
  }

  it('boxctl is the plugin of kubectl under its name', () => {
    const { stdout } = spawnSync(folder.path('links/kubectl-boxgate'), ['tell'], { env, encoding: 'utf8' });
    expect(stdout).to.equal('["kubectl"]\n');
  });

  it('boxgate dev ends with npx, which tells only the shell between them that it has to end', async () => {
    const database = await freshDatabase();
    folder.write('manifests/client.yaml', clientYaml('client'));
    const args = ['dev', path.join(folder.root, 'manifests'), ...anyPorts, ...urlsOf(database)];
    const dev = startBoxgate(args, { command: ['npx', 'boxgate'] });
    await dev.said(/^ready /m);
    const family = familyOf(dev.pid);
    await dev.end('SIGTERM');
    await eventually('nothing of it is left', () => !family.some(isRunning));
    await database.drop();
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { addUser, newBrowser } from '../http/pages/browser.ts';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import { shellBlocks } from '../operator/shell-page.ts';
import { startChild } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const bea = { email: 'bea@example.com', password: 'a long enough passphrase' };

describe('docs/reference/boxctl.md', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  let blocks: readonly string[];

  before(async () => {
    api = await startBoxApi();
    boxctl = await startBoxctl({});
    const page = shellBlocks(readFileSync('docs/reference/boxctl.md', 'utf8'));
    blocks = page.map(({ commands }) => commands.replaceAll('http://127.0.0.1:8080', api.url));
  });
  after(async () => {
    await boxctl.remove();
    await api.stop();
  });

  /** Starts the commands of a block; files that they write are in the home folder of a person. */
  function start(block: string | undefined) {
    const checkout = process.cwd();
    const commands = (block ?? 'false').replaceAll('./boxctl', `${checkout}/boxctl`);
    return startChild('sh', ['-ec', `cd "$HOME"; ${commands}`], {
      env: { PATH: process.env['PATH'] ?? '', HOME: boxctl.home, ADMIN_SECRET: adminSecret },
    });
  }

  const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.replaceAll(/ +/g, ' '));

  it('has two blocks of commands', () => {
    expect(blocks).to.have.length(2);
  });

  it('the commands for clients work as they are pasted', async () => {
    const program = start(blocks[1]);
    await eventually('they end', () => program.hasEnded());
    expect(lines(program.said())).to.deep.equal([
      'boxctl: the list of processes and the history of the shell show this password; `boxctl user new -` reads it from standard input',
      'Created user ann@example.com (id 1) in the box default.',
      'Created group staff (id 1) in the box default.',
      'staff',
      'Created policy staff in the box default.',
      'boxctl: the user is taken to be signed in to boxgate.ui; --client names another client',
      'yes, by the policy staff',
      'boxctl: the user is taken to be signed in to boxgate.ui; --client names another client',
      'POLICY ENGINE GRANTS REASON',
      'staff cel no',
      'Ended 0 sessions in the box default.',
      'User ann@example.com (id 1) in the box default is inactive.',
      '',
    ]);
    expect(readFileSync(`${boxctl.home}/orders-secret.txt`, 'utf8')).to.match(/^bgs_\S+\nCreated client orders/);
    for (const file of ['sessions.json', 'audit.json'])
      expect(JSON.parse(readFileSync(`${boxctl.home}/${file}`, 'utf8')))
        .to.be.an('array')
        .with.length(1);
  });

  it('the commands of a person work as they are pasted', async () => {
    const rights = { kind: 'AccessPolicy', id: 'people', engine: 'allow', subjects: 'authenticated' } as const;
    await api.declare('default', [rights]);
    await addUser(api, bea.email, bea.password);
    const program = start(blocks[0]);
    await eventually('it shows the address', () => /\/auth\/authorize\S+\n/.test(program.said()));
    const [address = ''] = /https?:\/\/\S+\/auth\/authorize\S+/.exec(program.said()) ?? [];
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', bea);
    const { location } = await browser.submit((await browser.get(address)).location, { answer: 'allow' });
    await (await fetch(location)).text();
    await eventually('they end', () => program.hasEnded());
    const said = lines(program.said());
    expect(said).to.include.members([
      `Signed in to the box default at ${api.url}.`,
      '2 bea@example.com active',
      `* default ${api.url} you`,
      ' "active": true,',
      'Signed out of the box default.',
    ]);
  });
});

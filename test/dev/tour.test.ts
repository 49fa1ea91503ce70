import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { expect } from 'chai';
import { freePort } from '../../dev/processes/port.ts';
import { findChromium, launchChromium, patience } from '../browser/chromium.ts';
import { isAsPrinted, runBlocks, shellBlocks } from '../operator/shell-page.ts';
import type { ShellBlock } from '../operator/shell-page.ts';
import { signedIn } from '../ui/admin.ts';
import { writeCurlStandIn } from './curl-stand-in.ts';
import { startDev } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';
import { writtenCommands } from './written-commands.ts';

const page = readFileSync('docs/guides/tour.md', 'utf8');
const blocks = shellBlocks(page);
/** Blocks before the admin UI: they set the variables, then create Ann. */
const first = 2;

describe('docs/guides/tour.md', () => {
  let checkout: TemporaryFolder;
  let dev: DevProcess;
  let browser: Browser;
  let apiPort: number;

  before(async () => {
    // As a checkout, with a state folder of its own.
    checkout = temporaryFolder();
    mkdirSync(checkout.path('bin'));
    writeCurlStandIn(checkout.path('bin', 'curl'));
    symlinkSync(path.resolve('node_modules'), checkout.path('node_modules'));
    cpSync('examples/standalone', checkout.path('examples/standalone'), {
      recursive: true,
      filter: (file) => !file.endsWith('.boxgate'),
    });
    dev = await startDev(checkout.path('examples/standalone'));
    apiPort = await freePort(0, '');
    browser = await launchChromium(findChromium(process.env));
  });
  after(async () => {
    await browser.close();
    await dev.boxgate.end();
    checkout.remove();
  });

  /** Returns commands for the ports of this test, and for boxctl of this checkout. */
  function here(text: string): string {
    return text
      .replaceAll('http://127.0.0.1:8080', dev.url)
      .replaceAll('http://127.0.0.1:8000', `http://127.0.0.1:${String(apiPort)}`)
      .replaceAll('PORT=8000', `PORT=${String(apiPort)}`)
      .replaceAll('examples/protect-your-api', path.resolve('examples/protect-your-api'))
      .replaceAll('./boxctl', path.resolve('boxctl'));
  }

  /** Runs blocks in one shell, and compares what each prints with the page. */
  async function run(some: readonly ShellBlock[]): Promise<void> {
    // What the shell has started ends with it: its output would stay open.
    const start = { commands: `cd "$CHECKOUT"; trap 'kill $(jobs -p) 2> /dev/null || true' EXIT`, printed: undefined };
    const environment = {
      PATH: [checkout.path('bin'), path.dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: checkout.path('home'),
      CHECKOUT: checkout.root,
    };
    const commands = some.map(({ commands: text, printed }) => ({ commands: here(text), printed }));
    const [, ...outputs] = await runBlocks([start, ...commands], environment);
    some.forEach(({ commands: text, printed }, nth) => {
      if (printed === undefined) return;
      const output = outputs[nth] ?? '';
      expect(isAsPrinted(printed, output), `${text}printed\n${output}`).to.equal(true);
    });
  }

  it('begins with make dev, which a test runs as README has it', () => {
    expect(
      writtenCommands(page).filter((command) => !command.includes('\n') && command.startsWith('make')),
    ).to.deep.equal(['make dev']);
    expect(writtenCommands(readFileSync('README.md', 'utf8'))).to.include('make dev');
  });

  it('its commands before the admin UI print what it says', () => run(blocks.slice(0, first)));

  it('its steps in the admin UI work as it says', async () => {
    const [, email = '', password = ''] = /Sign in as `(\S+)` with the password `([^`]+)`/.exec(page) ?? [];
    const newPage = async (options: Parameters<Browser['newContext']>[0]) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(patience);
      return context.newPage();
    };
    const base = `${dev.url}/boxes/default`;
    const ann = await signedIn({ base, newPage }, { person: { email, password } });
    const { page: ui, say, open, fill, press, sees, choose } = ann;
    await open('groups');
    await ui.getByRole('link', { name: say.newGroup }).click();
    await fill(say.name, 'readers');
    await press(say.save);
    await sees(say.saved('readers'));
    await open('users');
    await ui.getByRole('link', { name: say.newUser }).click();
    await fill(say.email, 'ben@example.com');
    await fill(say.password, 'correct horse battery');
    await ui.getByRole('group', { name: say.groupIds }).getByLabel('readers').check();
    await press(say.save);
    await sees(say.saved('ben@example.com'));
    await choose('ben@example.com');
    await press(say.delete);
    await sees(say.deleted('ben@example.com'));
    await open('policies');
    await fill(say.userId, '1');
    await press(say.ask);
    await sees(say.granted('admins'));
    await open('account');
    await ui.getByRole('button', { name: say.endSession, exact: true }).first().waitFor();
    for (const name of [say.newGroup, say.newUser, say.name, say.save, say.delete, say.question, say.userId, say.ask])
      expect(page).to.contain(name);
    await ann.close();
  });

  it('its commands about an API print what it says', () => run([...blocks.slice(0, 1), ...blocks.slice(first)]));
});

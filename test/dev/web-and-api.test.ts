import { expect } from 'chai';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { messages } from '../../api/pages/messages.ts';
import { findChromium, launchChromium, patience } from '../browser/chromium.ts';
import { shellBlocks } from '../operator/shell-page.ts';
import { startChild } from '../support/child-program.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import { replaced } from '../support/page-block.ts';
import { typePassword } from '../ui/admin.ts';
import type { Person } from '../ui/admin.ts';
import { startDev } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

const page = readFileSync('docs/guides/web-and-api.md', 'utf8');
const example = 'examples/web-and-api';
/** Files of the example that the page shows, in the order of its blocks. */
const shown = ['box.yaml', 'orders.yaml', 'api.js', 'web.js', 'spa.yaml', 'spa/index.html'];
const [serve = '', start = '', signInAndAdd = '', remove = ''] = shellBlocks(page).map(({ commands }) => commands);
/** Texts that the apps show, in the order of the page. */
const [refused = '', allowed = '', refusedInSpa = ''] = [...page.matchAll(/^```text\n(.*)\n```$/gm)].map(
  ([, line = '']) => line,
);
const say = messages.en;

/** Returns the two values of a sentence of the page. */
function written(pattern: RegExp): Person {
  const [, email = '', password = ''] = pattern.exec(page) ?? [];
  return { email, password };
}
const ann = written(/register as `(\S+)` with the password `([^`]+)`/);
const ben = { email: 'ben@example.com', password: 'another long passphrase' };
const admin = written(/email: (\S+)\n[^]*?password: (a .*)/);

describe('in Chromium the apps of docs/guides/web-and-api.md', () => {
  let checkout: TemporaryFolder;
  let dev: DevProcess;
  let apps: ChildProgram;
  let browser: Browser;
  let ports: Readonly<Record<string, string>>;
  /** The browser of Ann, in which she stays signed in. */
  let hers: BrowserContext;

  before(async () => {
    checkout = temporaryFolder();
    symlinkSync(path.resolve('node_modules'), checkout.path('node_modules'));
    ports = { 3000: String(await ownPort()), 3001: String(await ownPort()), 8000: String(await ownPort()) };
    cpSync(example, checkout.path(example), { recursive: true, filter: (file) => !file.endsWith('.boxgate') });
    for (const file of ['orders.yaml', 'spa.yaml']) write(file, here(contentOf(file)));
    dev = await startDev(checkout.path(example));
    for (const file of ['api.js', 'web.js', 'spa.js', 'spa/index.html']) write(file, here(contentOf(file)));
    apps = shell(`trap 'kill $(jobs -p)' EXIT\n${start}\nwait`);
    await eventually('the apps answer', async () => {
      if (apps.hasEnded()) throw new Error(apps.said());
      const answers = Object.values(ports).map((port) => fetch(`http://127.0.0.1:${port}/`).then(({ ok }) => ok));
      return (await Promise.allSettled(answers)).every(({ status }) => status === 'fulfilled');
    });
    browser = await launchChromium(findChromium(process.env));
    hers = await newContext();
  });
  after(async () => {
    await browser.close();
    await apps.stop();
    await dev.boxgate.end();
    checkout.remove();
  });

  const contentOf = (file: string): string => readFileSync(`${example}/${file}`, 'utf8');

  function write(file: string, text: string): void {
    writeFileSync(checkout.path(example, file), text);
  }

  /** Returns a text with the ports of this test, and boxctl of this checkout. */
  function here(text: string): string {
    const moved = Object.entries(ports).reduce(
      (one, [port, own]) => one.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${own}`).replaceAll(`(${port},`, `(${own},`),
      text.replaceAll('./boxctl', path.resolve('boxctl')),
    );
    return moved.includes('127.0.0.1:8080') ? moved.replaceAll('http://127.0.0.1:8080', dev.url) : moved;
  }

  /** Starts commands of the page in the checkout. */
  function shell(commands: string): ChildProgram {
    mkdirSync(checkout.path('home'), { recursive: true });
    return startChild('bash', ['--norc', '-euo', 'pipefail', '-c', here(commands)], {
      cwd: checkout.root,
      env: { HOME: checkout.path('home') },
    });
  }

  async function ended(program: ChildProgram): Promise<string> {
    await eventually('the commands end', () => program.hasEnded(), patience);
    return program.said();
  }

  async function newContext(): Promise<BrowserContext> {
    const context = await browser.newContext({ locale: 'en' });
    context.setDefaultTimeout(patience);
    return context;
  }

  /** Opens an address as the page of the docs has it. */
  async function open(context: BrowserContext, address: string): Promise<Page> {
    expect(page).to.contain(`<${address}>`);
    const opened = await context.newPage();
    await opened.goto(here(address));
    return opened;
  }

  const press = (opened: Page, name: string) => opened.getByRole('button', { name, exact: true }).click();
  const sees = (opened: Page, text: string) => opened.getByText(text, { exact: true }).waitFor();

  async function register(opened: Page, { email, password }: Person): Promise<void> {
    await opened.getByRole('link', { name: say.signUp }).click();
    await opened.getByLabel(say.email).fill(email);
    await opened.getByLabel(say.password).fill(password);
    await press(opened, say.signUp);
  }

  it('are the files of the example, and its first command serves it', () => {
    const blocks = [...page.matchAll(/^```(?:yaml|js|html)\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect(blocks).to.deep.equal(shown.map(contentOf));
    expect(serve).to.equal(`./boxgate dev ${example}\n`);
    for (const name of [say.signIn, say.signUp]) expect(page).to.contain(`"${name}"`);
  });

  it('show a person who has signed in and is in no group that the API answered 403', async () => {
    const web = await open(hers, 'http://127.0.0.1:3000');
    await press(web, say.signIn);
    await register(web, ann);
    await sees(web, refused);
  });

  it('show it what the API gives a member of the group, with the token that the person has', async () => {
    const commands = shell(signInAndAdd);
    await eventually('boxctl prints the address', () => /\/auth\/authorize\S+/.test(commands.said()), patience);
    const window = await newContext();
    const signIn = await window.newPage();
    await signIn.goto(/http:\/\/\S+\/auth\/authorize\S+/.exec(commands.said())?.[0] ?? '');
    await typePassword(signIn, 'en', admin);
    await press(signIn, say.allow);
    expect(await ended(commands)).to.match(/\nstaff\n$/);
    await window.close();
    const web = hers.pages()[0] ?? (await hers.newPage());
    await web.reload();
    await sees(web, allowed);
    await ended(shell(remove));
    await web.reload();
    await sees(web, refused);
    await ended(shell(signInAndAdd.replace(/^.*login.*\n/, '')));
  });

  it('renew the token that the web app has kept', async () => {
    const lifetime = { 'access_token_expiration: 300': 'access_token_expiration: 2' };
    write('orders.yaml', replaced(here(contentOf('orders.yaml')), lifetime));
    const said = (commands: string) => ended(shell(commands));
    await eventually('the lifetime is short', async () =>
      /access_token_expiration"?: 2\b/.test(await said('./boxctl client show web')),
    );
    const web = await hers.newPage();
    await web.goto(here('http://127.0.0.1:3000/login'));
    await eventually('a token is refreshed', async () => {
      await web.reload();
      const refreshed = await said('./boxctl session list --client web --type refresh_token');
      return /^\S+ +User\/\d+ +web +refresh_token /m.test(refreshed) && (await web.textContent('body')) === allowed;
    });
    await web.close();
  });

  it('call the API from a single-page app, which asks nothing where the person is signed in', async () => {
    const spa = await open(hers, 'http://127.0.0.1:3001');
    const redeemed = spa.waitForRequest((request) => request.url().endsWith('/auth/token'));
    await press(spa, say.signIn);
    await sees(spa, 'order 7');
    expect((await redeemed).postData())
      .to.contain('code_verifier=')
      .and.not.contain('client_secret');
  });

  it('show in the single-page app that the API answered 403 to a person in no group', async () => {
    const context = await newContext();
    const spa = await open(context, 'http://127.0.0.1:3001');
    await press(spa, say.signIn);
    await register(spa, ben);
    await sees(spa, 'The API answered 403.');
    await context.close();
  });

  it('have a token for another API refused, although the person is in the group', async () => {
    const [, other = ''] = /Change `audience` in `spa\/index.html` to `(\S+)`/.exec(page) ?? [];
    write('spa/index.html', replaced(here(contentOf('spa/index.html')), { 'https://orders.example': other }));
    const spa = await open(hers, 'http://127.0.0.1:3001');
    await press(spa, say.signIn);
    await sees(spa, refusedInSpa);
  });

  it('are refused by Boxgate where they ask for an audience that the client does not list', async () => {
    const unlisted = { 'https://orders.example': 'https://stock.example' };
    write('spa/index.html', replaced(here(contentOf('spa/index.html')), unlisted));
    const spa = await open(hers, 'http://127.0.0.1:3001');
    await press(spa, say.signIn);
    await spa.waitForURL(/error=invalid_target/);
  });
});

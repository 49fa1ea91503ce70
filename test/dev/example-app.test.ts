import { expect } from 'chai';
import { newBrowser } from '../http/pages/browser.ts';
import { startLoggedProcess } from '../support/logged-process.ts';
import type { LoggedProcess } from '../support/logged-process.ts';
import { startDev } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('examples/app', () => {
  let state: TemporaryFolder;
  let dev: DevProcess;
  let app: LoggedProcess & { readonly found: string };

  before(async () => {
    state = temporaryFolder();
    dev = await startDev('examples/people', ['--state', state.root]);
    const environment = { ISSUER: `${dev.url}/boxes/default`, PORT: '0' };
    app = await startLoggedProcess(['examples/app/app.js'], environment, (line) => /^open (\S+)$/.exec(line)?.[1]);
  });
  after(async () => {
    await app.end('SIGTERM');
    await dev.boxgate.end();
    state.remove();
  });

  /** Returns the app's answer to a browser. */
  async function say(address: string, cookie = '') {
    const response = await fetch(address, { headers: { Cookie: cookie }, redirect: 'manual' });
    const { status, headers } = response;
    const [sent = ''] = headers.getSetCookie().map((one) => one.split(';', 1)[0]);
    return { status, text: await response.text(), location: headers.get('location') ?? '', cookie: sent };
  }

  /** Signs the admin in; the answer to the question whether the app may know. */
  async function signIn(first: string, answer: 'allow' | 'deny'): Promise<string> {
    const browser = newBrowser({ url: dev.url }, 'default', `${dev.url}/boxes/default`);
    const account = { email: 'admin@example.com', password: 'a password of an example' };
    const signedIn = await browser.submit((await browser.get(first)).location, account);
    const question = await browser.get(signedIn.location);
    return (await browser.submit(question.location, { answer })).location;
  }

  it('tells a person who it is that has signed in at `boxgate dev`', async () => {
    const begun = await say(app.found);
    expect(begun.status).to.equal(303);
    const back = await signIn(begun.location, 'allow');
    expect(back.startsWith(`${app.found}/callback?code=`), back).to.equal(true);
    expect((await say(back)).status, 'in another browser').to.equal(400);
    const { status, text } = await say(back, begun.cookie);
    expect([status, text]).to.deep.equal([200, 'Hello, admin@example.com! You are user 1.\n']);
    expect((await say(back, begun.cookie)).status, 'once more').to.equal(400);
  });

  it('tells a person who said no that they are not signed in', async () => {
    const begun = await say(app.found);
    const browserLeft = await signIn(`${begun.location}&prompt=consent`, 'deny');
    const { status, text } = await say(browserLeft, begun.cookie);
    expect([status, text]).to.deep.equal([400, 'Signing in did not work: The user denied access\n']);
  });
});

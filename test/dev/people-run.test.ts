import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { newBrowser } from '../http/pages/browser.ts';
import type { Browser } from '../http/pages/browser.ts';
import { getStatus } from './box-requests.ts';
import { startDev } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('boxgate dev examples/people', () => {
  let state: TemporaryFolder;
  let dev: DevProcess;
  let address = '';
  let account = '';

  before(async () => {
    state = temporaryFolder();
    dev = await startDev('examples/people', ['--state', state.root]);
    [, account = ''] = /^Sign in as (\S+); the password is in /m.exec(dev.boxgate.stdout) ?? [];
    address = `${dev.url}/auth/authorize?response_type=token&client_id=admin`;
  });
  after(async () => {
    await dev.boxgate.end();
    state.remove();
  });

  const password = /password: (a .*)/.exec(readFileSync('examples/people/1-box.yaml', 'utf8'))?.[1] ?? '';

  function browserHere(): Browser {
    return newBrowser({ url: dev.url }, 'default', `${dev.url}/boxes/default`);
  }

  /** Follows redirects and allows what is asked, until the browser leaves for the app; the fragment it leaves with. */
  async function walk(browser: Browser, first: string, fields: Record<string, string>): Promise<URLSearchParams> {
    let { location } = await browser.submit(first, fields);
    while (location.startsWith(dev.url)) {
      const isQuestion = location.includes('/auth/consent');
      location = (isQuestion ? await browser.submit(location, { answer: 'allow' }) : await browser.get(location))
        .location;
    }
    expect(location).to.match(/^http:\/\/127\.0\.0\.1:3001\/#access_token=bgt_/);
    return new URLSearchParams(location.slice(location.indexOf('#') + 1));
  }

  it('R-32 prints one command that starts the app, the account, and the place of its password but not the password', () => {
    const lines = readFileSync('examples/people/1-box.yaml', 'utf8').split('\n');
    const secretAt = lines.findIndex((line, nth) => line === 'apiVersion: v1' && lines[nth + 1] === 'kind: Secret') + 1;
    expect(dev.boxgate.stdout).to.contain(
      'To sign in to an app, start this one in another terminal and open the address that it prints:\n\n' +
        `  ISSUER=${dev.url}/boxes/default npx node examples/app/app.js\n\n` +
        `Sign in as admin@example.com; the password is in examples/people/1-box.yaml:${String(secretAt)} (Secret first-admin).\n\nThe console of the box default: ${dev.url}/boxes/default/ui/\nready `,
    );
    expect(dev.boxgate.stdout).not.to.contain('response_type=token');
    expect(password).not.to.equal('');
    expect(dev.boxgate.stdout + dev.boxgate.stderr).not.to.contain(password);
  });

  it('signs that account in at that address, which then may do everything', async () => {
    const browser = browserHere();
    const asked = await browser.get(address.slice(dev.url.length));
    const answer = await walk(browser, asked.location, { email: account, password });
    const token = answer.get('access_token') ?? '';
    expect(answer.get('expires_in')).to.equal('3600');
    expect(answer.get('scope')).to.equal('openid boxgate');
    expect(await getStatus(`${dev.url}/boxes/default`, '/users', token)).to.equal(200);
  });

  it('lets somebody else register there, who may do what the readers may', async () => {
    const browser = browserHere();
    const asked = await browser.get(address.slice(dev.url.length));
    const signUp = asked.location.replace('/auth/signin', '/auth/signup');
    const answer = await walk(browser, signUp, { email: 'ann@example.com', password: 'what Ann has chosen' });
    const token = answer.get('access_token') ?? '';
    const box = `${dev.url}/boxes/default`;
    expect([await getStatus(box, '/Group', token), await getStatus(box, '/users', token)]).to.deep.equal([200, 403]);
  });
});

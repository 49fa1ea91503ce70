import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { isObject, parseJson } from '../../crds/path.ts';
import { addUser, newBrowser } from '../http/pages/browser.ts';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { startBoxctl, type Boxctl } from './boxctl.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };

describe('boxctl login', () => {
  let api: BoxApi;
  let boxctl: Boxctl;

  before(async () => {
    api = await startBoxApi();
    const rights = { kind: 'AccessPolicy', id: 'people', engine: 'allow', subjects: 'authenticated' } as const;
    await api.declare('default', [rights]);
    await addUser(api, ann.email, ann.password);
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxctl = await startBoxctl({ BOXCTL_SERVER: api.url, BOXCTL_BOX: 'default' });
  });
  afterEach(() => boxctl.remove());

  const stateFile = (): string => path.join(boxctl.home, '.config', 'boxctl', 'state.json');
  const base = (): string => `${api.url}/boxes/default`;

  function keptLogin(): Readonly<Record<string, unknown>> {
    const state = parseJson(readFileSync(stateFile(), 'utf8'));
    const logins = isObject(state) ? state['logins'] : undefined;
    const login = isObject(logins) ? logins[base()] : undefined;
    return isObject(login) ? login : {};
  }

  function changeLogin(change: Readonly<Record<string, unknown>>): void {
    const logins = { [base()]: { ...keptLogin(), ...change } };
    writeFileSync(stateFile(), JSON.stringify({ logins }), { mode: 0o600 });
  }

  /** Answers the consent page of the address that boxctl shows, as a person with a browser does. */
  async function answer(program: ChildProgram, decision: 'allow' | 'deny'): Promise<void> {
    await eventually('it shows the address', () => /\/auth\/authorize\S+/.test(program.said()));
    const [address = ''] = /https?:\/\/\S+\/auth\/authorize\S+/.exec(program.said()) ?? [];
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
    const consent = await browser.get(address);
    const { location } = await browser.submit(consent.location, { answer: decision });
    expect(await (await fetch(location)).text()).to.contain('You can close this window');
    await eventually('it ends', () => program.hasEnded());
  }

  async function signedIn(): Promise<void> {
    const program = boxctl.onTerminal(['login', '--no-browser']);
    await answer(program, 'allow');
    expect(program.said()).to.contain('Signed in to the box default');
  }

  const isValid = async (token: unknown): Promise<boolean> => {
    const response = await fetch(`${base()}/users`, { headers: { Authorization: `Bearer ${String(token)}` } });
    await response.text();
    return response.ok;
  };

  it('signs a person in with the browser, and later commands use it', async () => {
    await signedIn();
    const { code, output } = await boxctl.run(['user', 'list']);
    expect([code, output]).to.deep.equal([0, output]);
    expect(output).to.contain(ann.email);
    const listed = await boxctl.run(['box', 'list']);
    expect(listed.output.replaceAll(/ +/g, ' ')).to.equal(`CHOSEN BOX SERVER SIGNED IN AS\n* default ${api.url} you\n`);
  });

  it('ends the sign-in that another one replaces', async () => {
    await signedIn();
    const before = keptLogin();
    await signedIn();
    expect([await isValid(before['access_token']), await isValid(keptLogin()['access_token'])]).to.deep.equal([
      false,
      true,
    ]);
    changeLogin({ expires_at: Date.now() });
    expect((await boxctl.run(['token'])).code).to.equal(0);
  });

  it('replaces a sign-in that cannot be ended', async () => {
    await signedIn();
    for (const change of [{ refresh_token: 'bgr_over' }, { client: 'nobody' }, { client: 'x'.repeat(100_000) }]) {
      changeLogin(change);
      const ran = await boxctl.run(['login', '--client', 'admin'], {}, `${adminSecret}\n`);
      expect([ran.code, ran.messages]).to.deep.equal([0, '']);
      expect(keptLogin()).to.include({ client: 'admin' }).and.not.to.have.property('refresh_token');
    }
  });

  it('L-03 keeps tokens in a file of mode 0600 and no password', async () => {
    await signedIn();
    expect(statSync(stateFile()).mode & 0o777).to.equal(0o600);
    expect(readFileSync(stateFile(), 'utf8')).not.to.contain(ann.password);
    expect(keptLogin()).to.have.all.keys('client', 'access_token', 'expires_at', 'refresh_token');
  });

  it('refreshes an expired token, once for all runs at the same time', async () => {
    await signedIn();
    for (let round = 0; round < 3; round += 1) {
      const { refresh_token } = keptLogin();
      changeLogin({ expires_at: Date.now() });
      const runs = await Promise.all(Array.from({ length: 4 }, () => boxctl.run(['token'])));
      expect(runs.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0]);
      expect(new Set(runs.map(({ output }) => output)).size).to.equal(1);
      expect(await isValid(runs[0]?.output.trim())).to.equal(true);
      expect(keptLogin()['refresh_token']).not.to.equal(refresh_token);
    }
    expect(existsSync(`${stateFile()}.lock`)).to.equal(false);
  });

  it('takes over the lock of a run that was killed', async () => {
    await signedIn();
    const killed = spawn(process.execPath, ['--eval', '']);
    await once(killed, 'exit');
    writeFileSync(`${stateFile()}.lock`, String(killed.pid));
    changeLogin({ expires_at: Date.now() });
    expect((await boxctl.run(['token'])).code).to.equal(0);
  });

  it('says that the sign-in is over when its refresh token is not valid any more', async () => {
    await signedIn();
    await api.call('DELETE', '/Grant/1.boxgate.cli');
    changeLogin({ expires_at: Date.now() });
    expect(await boxctl.run(['user', 'list'])).to.deep.equal({
      code: 1,
      output: '',
      messages: 'boxctl: the sign-in is over: run `boxctl login`\n',
    });
    expect(keptLogin()).to.deep.equal({});
  });

  it('logout revokes the tokens and forgets them', async () => {
    await signedIn();
    const { access_token } = keptLogin();
    expect(await isValid(access_token)).to.equal(true);
    expect((await boxctl.run(['logout'])).output).to.equal('Signed out of the box default.\n');
    expect(await isValid(access_token)).to.equal(false);
    expect(keptLogin()).to.deep.equal({});
    expect((await boxctl.run(['logout'])).output).to.equal('You are not signed in to the box default.\n');
    expect((await boxctl.run(['user', 'list'])).messages).to.contain('run `boxctl login`');
  });

  it('logout keeps the sign-in when the box cannot be reached', async () => {
    await signedIn();
    const { access_token } = keptLogin();
    const state = readFileSync(stateFile(), 'utf8').replaceAll(api.url, 'http://127.0.0.1:1');
    writeFileSync(stateFile(), state, { mode: 0o600 });
    const { code } = await boxctl.run(['logout'], { BOXCTL_SERVER: 'http://127.0.0.1:1' });
    expect(code).to.equal(3);
    expect(readFileSync(stateFile(), 'utf8')).to.contain(access_token);
  });

  it('exits with 1 when the person refuses', async () => {
    const program = boxctl.onTerminal(['login', '--no-browser']);
    await answer(program, 'deny');
    expect(program.said()).to.contain('boxctl: the sign-in was refused');
    expect(existsSync(stateFile())).to.equal(false);
  });

  it('ignores requests of other programs to its loopback address', async () => {
    const program = boxctl.onTerminal(['login', '--no-browser']);
    await eventually('it shows the address', () => /redirect_uri=\S+/.test(program.said()));
    const [, redirect = ''] = /redirect_uri=([^&\s]+)/.exec(program.said()) ?? [];
    const forged = await fetch(`${decodeURIComponent(redirect)}?code=stolen&state=guessed`);
    expect(forged.status).to.equal(404);
    await answer(program, 'allow');
    expect(program.said()).to.contain('Signed in to the box default');
  });

  it('a refreshed token that cannot be kept serves the command, with a warning', async () => {
    await signedIn();
    changeLogin({ expires_at: 0 });
    const text = readFileSync(stateFile());
    // No path longer than 4095 bytes exists on Linux: the state file is there, and its lock cannot be.
    const end = '/boxctl/state.json';
    let folder = boxctl.home;
    while (folder.length + 201 + end.length < 4000) folder += `/${'d'.repeat(200)}`;
    folder += `/${'d'.repeat(4095 - 1 - folder.length - end.length)}`;
    mkdirSync(`${folder}/boxctl`, { recursive: true });
    writeFileSync(folder + end, text, { mode: 0o600 });
    const { code, output, messages } = await boxctl.run(['user', 'list'], { XDG_CONFIG_HOME: folder });
    expect([code, output.slice(0, 1)]).to.deep.equal([0, '[']);
    expect(messages).to.match(/^boxctl: \S+ cannot be written: .+ The refreshed sign-in is lost after this command\n$/);
  });

  it('^C ends it with 130 and keeps nothing', async () => {
    const program = spawn('./boxctl', ['login', '--no-browser'], {
      env: { PATH: process.env['PATH'], HOME: boxctl.home, BOXCTL_SERVER: api.url, BOXCTL_BOX: 'default' },
    });
    let said = '';
    program.stderr.on('data', (part: Buffer) => (said += part.toString('utf8')));
    await eventually('it shows the address', () => said.includes('/auth/authorize'));
    program.kill('SIGINT');
    expect(await once(program, 'exit')).to.deep.equal([130, null]);
    expect(existsSync(stateFile())).to.equal(false);
  });

  it('signs a client in with its secret, which is not kept', async () => {
    const ran = await boxctl.run(['login', '--client', 'admin'], {}, `${adminSecret}\n`);
    expect(ran).to.deep.equal({
      code: 0,
      output: `Signed in to the box default at ${api.url}.\n`,
      messages: '',
    });
    expect(readFileSync(stateFile(), 'utf8')).not.to.contain(adminSecret);
    expect((await boxctl.run(['user', 'list'])).code).to.equal(0);
    const { access_token } = keptLogin();
    await boxctl.run(['logout']);
    expect(await isValid(access_token)).to.equal(false);
    const wrong = await boxctl.run(['login', '--client', 'admin'], {}, 'wrong\n');
    expect(wrong.code).to.equal(1);
  });

  it('asks for the secret of a client on a terminal and does not show it', async () => {
    const program = boxctl.onTerminal(['login', '--client', 'admin']);
    await eventually('it asks for the secret', () => program.said().includes('Client secret: '));
    program.write(`${adminSecret}\r`);
    await eventually('it ends', () => program.hasEnded());
    expect(program.said()).to.contain('Signed in to the box default');
    expect(program.said()).not.to.contain(adminSecret);
  });

  describe('boxctl token', () => {
    const client = { BOXCTL_CLIENT_ID: 'admin', BOXCTL_CLIENT_SECRET: adminSecret };

    it('prints a token that stays valid after it', async () => {
      const { code, output } = await boxctl.run(['token'], client);
      expect([code, await isValid(output.trim())]).to.deep.equal([0, true]);
    });

    it('show introspects a token as the client that is set', async () => {
      const { output } = await boxctl.run(['token'], client);
      const shown = await boxctl.run(['token', 'show', '-'], client, output);
      expect(JSON.parse(shown.output)).to.have.nested.property('introspection.active', true);
      expect(JSON.parse(shown.output)).to.have.nested.property('introspection.client_id', 'admin');
    });

    it('show tells whose token a sign-in has, and decodes a JWT', async () => {
      await signedIn();
      const { output } = await boxctl.run(['token', 'show']);
      expect(JSON.parse(output)).to.deep.include({ active: true, userinfo: { sub: '1' } });
      const text = `${encoded({ alg: 'none' })}.${encoded({ sub: '7' })}.x`;
      const foreign = await boxctl.run(['token', 'show', '-'], {}, text);
      expect(JSON.parse(foreign.output)).to.deep.equal({
        header: { alg: 'none' },
        claims: { sub: '7' },
        active: false,
      });
    });

    it('show refuses a token on the command line', async () => {
      expect((await boxctl.run(['token', 'show', 'bgt_x'])).code).to.equal(2);
    });
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

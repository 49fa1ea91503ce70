import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { portOf } from '../../program/environment.ts';
import { obtainGo } from '../../tools/envtest/go.ts';
import { downloads } from '../../tools/envtest/release.ts';
import { writtenCommands } from '../dev/written-commands.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { startChild } from '../support/child-program.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';

const page = readFileSync('docs/guides/get-a-token.md', 'utf8');
const secret = 'a secret: 50 % + 1/2 & more';
/** Commands of the page that start a caller, one for each language. */
const commands = writtenCommands(page).filter((command) => command.includes('examples/get-a-token/'));

describe('the callers of docs/guides/get-a-token.md', () => {
  let api: TestApi;
  let called: Server;
  /** Tokens that the called API got, in their order. */
  const got: string[] = [];
  const running: ChildProgram[] = [];

  before(async () => {
    api = await startApi();
    const caller = (id: string, access_token_expiration: number) => ({
      kind: 'Client' as const,
      id,
      grant_types: ['client_credentials'],
      secret,
      auth: { client_credentials: { access_token_expiration } },
    });
    await api.declare('shop', [caller('long', 3600), caller('short', 2)]);
    called = createServer(({ headers: { authorization = '' } }, response) => {
      void answer(authorization.replace('Bearer ', '')).then((status) => response.writeHead(status).end());
    });
    await once(called.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    for (const program of running.splice(0)) await program.stop();
    got.length = 0;
  });
  after(async () => {
    called.close();
    await api.stop();
  });

  /** Returns the status that the called API answers with: 200 if the box says that the token is active. */
  async function answer(token: string): Promise<number> {
    got.push(token);
    const form = new URLSearchParams({ client_id: 'long', client_secret: secret, token });
    const response = await fetch(`${api.url}/boxes/shop/auth/introspect`, { method: 'POST', body: form });
    return (await response.text()).startsWith('{"active":true') ? 200 : 401;
  }

  /** Starts a caller by its command; each call of the result makes it call the API, and returns what it prints. */
  async function start(command: string, client: string, clientSecret = secret): Promise<() => Promise<string>> {
    const go = await obtainGo(process.env, () => undefined, downloads.toolchain);
    const program = startChild('bash', ['--norc', '-c', `exec ${command}`], {
      env: {
        PATH: [path.dirname(process.execPath), path.dirname(go), process.env['PATH']].join(path.delimiter),
        // Where Go keeps what it has compiled.
        HOME: process.env['HOME'] ?? '',
        BASE: `${api.url}/boxes/shop`,
        API: `http://127.0.0.1:${String(portOf(called))}/`,
        CLIENT_ID: client,
        CLIENT_SECRET: clientSecret,
      },
    });
    running.push(program);
    const lines: AsyncIterator<string, undefined> = createInterface({ input: program.output })[Symbol.asyncIterator]();
    return async () => {
      program.write('\n');
      return (await lines.next()).value ?? program.said();
    };
  }

  it('are in Node, Python, Go and Java', () => {
    expect(commands.map((command) => command.split(' ', 1)[0])).to.deep.equal(['node', 'python3', 'go', 'java']);
  });

  it('are shown on the page as their file is', () => {
    const [, shown] = /^```js\n(.*?)^```\n/ms.exec(page) ?? [];
    expect(shown).to.equal(readFileSync('examples/get-a-token/caller.mjs', 'utf8'));
  });

  for (const command of commands) {
    describe(command, () => {
      it('gets a token for the first call, keeps it for the second, and gets another one when it was revoked', async () => {
        const call = await start(command, 'long');
        expect(await call()).to.match(/^200/);
        expect(await call()).to.match(/^200/);
        const [first = '', second] = got;
        expect([got.length, second]).to.deep.equal([2, first]);
        const headers = { Authorization: `Bearer ${first}` };
        expect((await fetch(`${api.url}/boxes/shop/Session`, { method: 'DELETE', headers })).status).to.equal(200);
        expect(await call()).to.match(/^200/);
        expect(got.slice(2)).to.have.length(2).and.include(first);
        expect(await call()).to.match(/^200/);
        expect(got[4]).to.equal(got[3]).and.not.equal(first);
      });

      it('renews its token when it expires, without a failed call', async () => {
        const call = await start(command, 'short');
        await eventually('another token is used', async () => {
          expect(await call()).to.match(/^200/);
          return new Set(got).size > 2;
        });
      });

      it('prints the answer of Boxgate where there is no token, and goes on', async () => {
        const call = await start(command, 'long', 'not the secret');
        expect(await call()).to.contain('401');
        expect(await call()).to.contain('401');
        expect(got).to.deep.equal([]);
      });
    });
  }
});

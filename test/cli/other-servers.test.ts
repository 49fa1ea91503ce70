import type { ServerResponse } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { startServedBoxctl, type ServedBoxctl } from './boxctl.ts';

/** Command lines that call the box, all with a token. */
const LINES = [
  'user list',
  'user show 1',
  'user show a@b.example',
  'user new -',
  'user set 1 --email c@b.example',
  'user disable 1',
  'user groups a@b.example --add staff',
  'user delete a@b.example',
  'group list',
  'group show staff',
  'group new staff',
  'group delete 1',
  'client list',
  'client show orders',
  'client new orders --grant client_credentials',
  'client set orders --active false',
  'client delete orders',
  'policy list',
  'policy delete readers',
  'session list',
  'session end abc',
  'session end --client orders',
  'can client:orders GET /users',
  'explain client:orders GET /users',
  'export',
  'diff FOLDER',
  'plan FOLDER',
  'audit',
  'why abc',
  'box status',
  'token show',
  'login --no-browser',
] as const;

describe('boxctl at the address of something else', () => {
  let served: ServedBoxctl;
  let folder = '';
  let answer: (response: ServerResponse) => void;

  before(async () => {
    // Each run has a token of its own, or none.
    served = await startServedBoxctl((_request, response) => answer(response), {});
    folder = path.join(served.boxctl.home, 'manifests');
    mkdirSync(folder);
    const manifest = { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name: 'orders' } };
    const spec = { grant_types: ['client_credentials'], generateSecret: {} };
    writeFileSync(path.join(folder, 'client.json'), JSON.stringify({ ...manifest, spec }));
  });
  after(() => served.end());

  const run = (line: string, environment: Readonly<Record<string, string>> = { BOXCTL_TOKEN: 'x' }) =>
    served.boxctl.run(
      line.split(' ').map((word) => (word === 'FOLDER' ? folder : word)),
      environment,
      'x@y.example:pw\n',
    );
  const unlike = (): object => ({
    code: 3,
    messages: `boxctl: ${served.url} does not answer as a box does: check the address\n`,
  });
  const html = (response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
  };

  for (const line of LINES)
    it(`${line}: a page for people is no success`, async () => {
      answer = html;
      const ran = await run(line);
      expect(ran).to.include(unlike());
      expect(ran.output).to.equal('');
    });

  it('a success without a body is one only if its status says so', async () => {
    answer = (response) => response.writeHead(200).end();
    for (const line of ['client delete orders', 'user list', 'box status', 'token show', 'user new -'])
      expect(await run(line)).to.include({ ...unlike(), output: '' });
  });

  it('a client gets no token of a page for people, or of an answer without one', async () => {
    const client = { BOXCTL_CLIENT_ID: 'orders', BOXCTL_CLIENT_SECRET: 'secret' };
    answer = html;
    expect(await run('user list', client)).to.include(unlike());
    answer = (response) => response.end('{}');
    expect(await run('user list', client)).to.include(unlike());
  });

  it('a redirect is not followed: it names the address to give', async () => {
    answer = (response) => response.writeHead(308, { Location: 'https://auth.example.com/boxes/shop/users' }).end();
    const { code, messages } = await run('user list');
    expect([code, messages]).to.deep.equal([
      3,
      `boxctl: ${served.url} redirects to https://auth.example.com: name that address\n`,
    ]);
  });
});

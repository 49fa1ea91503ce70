import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { isObject } from '../../crds/path.ts';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import { startBoxctl, startServedBoxctl, type Boxctl } from './boxctl.ts';

describe('the current box of boxctl', () => {
  let api: BoxApi;
  let boxctl: Boxctl;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    boxctl = await startBoxctl({ BOXCTL_SERVER: api.url });
  });
  afterEach(() => boxctl.remove());

  const stateFile = (): string => path.join(boxctl.home, '.config/boxctl/state.json');
  const kubeConfig = (namespace: string): string =>
    JSON.stringify({ 'current-context': 'here', contexts: [{ name: 'here', context: { namespace } }] });

  async function chosen(args: readonly string[] = [], environment = {}): Promise<unknown> {
    const { output } = await boxctl.run(['box', 'status', '--output', 'json', ...args], environment);
    const status: unknown = output === '' ? undefined : JSON.parse(output);
    return isObject(status) ? [status['box'], status['box_from']] : undefined;
  }

  it('is that of --box, then BOXCTL_BOX, then the kube context, then `box use`', async () => {
    await boxctl.run(['box', 'use', 'other']);
    expect(await chosen()).to.deep.equal(['other', 'boxctl box use']);
    await mkdir(path.join(boxctl.home, '.kube'));
    await writeFile(path.join(boxctl.home, '.kube/config'), kubeConfig('default'));
    expect(await chosen()).to.deep.equal(['default', 'the namespace of the kube context']);
    expect(await chosen([], { BOXCTL_BOX: 'other' })).to.deep.equal(['other', 'BOXCTL_BOX']);
    expect(await chosen(['--box', 'default'], { BOXCTL_BOX: 'other' })).to.deep.equal(['default', '--box']);
  });

  it('reads the files of KUBECONFIG like kubectl: the first that names a current context wins', async () => {
    const [one, two] = [path.join(boxctl.home, 'one'), path.join(boxctl.home, 'two')];
    await writeFile(one, JSON.stringify({ 'current-context': 'here' }));
    await writeFile(two, kubeConfig('other'));
    expect(await chosen([], { KUBECONFIG: `${one}:${two}` })).to.deep.equal([
      'other',
      'the namespace of the kube context',
    ]);
  });

  it('L-03 `box use` writes a file for its owner alone, and one that others may read is refused', async () => {
    await boxctl.run(['box', 'use', 'other', '--server', `${api.url}/`]);
    expect((await stat(stateFile())).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(await readFile(stateFile(), 'utf8'))).to.deep.equal({ box: 'other', server: api.url });
    await chmod(stateFile(), 0o644);
    const { code, messages } = await boxctl.run(['box', 'status']);
    expect(code).to.equal(2);
    expect(messages).to.equal(`boxctl: others may read ${stateFile()}: run \`chmod 600 ${stateFile()}\` first\n`);
  });

  const mistakes: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
    ['no command', [], /^boxctl: which command\?\n\nboxctl: users/],
    ['an unknown command', ['usr', 'list'], /^boxctl: there is no command usr\. Did you mean `user`\?\n$/],
    ['an unknown subcommand', ['user', 'lst'], /^boxctl: there is no command user lst\. Did you mean `user list`\?\n$/],
    [
      'a group of commands alone',
      ['user'],
      /^boxctl: `boxctl user` needs a subcommand: `boxctl user help` lists them\n$/,
    ],
    [
      'an unknown option',
      ['user', 'list', '--outptu', 'json'],
      /^boxctl: Unknown option '--outptu'\. Did you mean `--output`\?\n$/,
    ],
    [
      'an option of another command',
      ['user', 'list', '--data', '1'],
      /^boxctl: `boxctl user list` has no option --data\n$/,
    ],
    ['an unknown format', ['user', 'list', '--output', 'xml'], /^boxctl: --output must be one of json, yaml, table\n$/],
    ['too many arguments', ['user', 'show', '1', '2'], /^boxctl: usage: boxctl user show <id or email>\n$/],
    [
      'no box',
      ['user', 'list'],
      /^boxctl: which box\? Give --box, set BOXCTL_BOX, or choose one with `boxctl box use <box>`\n$/,
    ],
    [
      'a box that no namespace can be',
      ['user', 'list', '--box', 'A/b'],
      /^boxctl: --box must be the name of a namespace/,
    ],
    [
      'no credential',
      ['user', 'list', '--box', 'default'],
      /^boxctl: no credential: run `boxctl login`, or set BOXCTL_TOKEN/,
    ],
    [
      'a token with a line feed',
      ['user', 'list', '--box', 'default', '--token', 'a\nb'],
      /^boxctl: the token has characters that no token has/,
    ],
    [
      'a server that is no URL',
      ['user', 'list', '--box', 'default', '--server', 'ftp://x'],
      /^boxctl: --server must be the public URL/,
    ],
    [
      'a wizard without a terminal',
      ['user', 'new', '--box', 'default', '--token', 'x'],
      /^boxctl: this asks questions, and standard input is no terminal\n$/,
    ],
    [
      'a user without a colon',
      ['user', 'new', 'ann', '--box', 'default', '--token', 'x'],
      /^boxctl: the user is written as <email>:<password>/,
    ],
  ];
  for (const [what, args, says] of mistakes) {
    it(`exits with 2 for ${what}`, async () => {
      const { code, output, messages } = await boxctl.run(args);
      expect({ code, output }).to.deep.equal({ code: 2, output: '' });
      expect(messages).to.match(says);
    });
  }

  it('exits with 1 for a token that is not valid, a wrong secret, and a right that is missing', async () => {
    const box = ['--box', 'default'];
    const invalid = await boxctl.run(['user', 'list', ...box], { BOXCTL_TOKEN: 'bgt_nothing' });
    expect(invalid.code).to.equal(1);
    expect(invalid.messages).to.match(/^boxctl: GET \/users is refused \(401\): the credential is not valid here/);
    const wrong = await boxctl.run(['user', 'list', ...box], {
      BOXCTL_CLIENT_ID: 'admin',
      BOXCTL_CLIENT_SECRET: 'wr0ng',
    });
    expect(wrong.code).to.equal(1);
    expect(wrong.messages).to.contain('the token request of client admin is refused (401)').and.not.to.contain('wr0ng');
    await api.declare('default', [{ kind: 'Client', id: 'nobody', grant_types: ['client_credentials'], secret: 's' }]);
    const denied = await boxctl.run(['user', 'list', ...box], {
      BOXCTL_CLIENT_ID: 'nobody',
      BOXCTL_CLIENT_SECRET: 's',
    });
    expect(denied.code).to.equal(1);
    expect(denied.messages).to.match(/^boxctl: GET \/users is refused \(403\): no access policy of the box allows it/);
  });

  it('takes the base URL of a box as the server, and the box from it', async () => {
    // E-26: {base_url} is the address that the documentation and other clients have.
    const environment = { BOXCTL_SERVER: `${api.url}/boxes/default` };
    expect(await chosen([], environment)).to.deep.equal(['default', 'BOXCTL_SERVER']);
    expect(await chosen(['--server', `${api.url}/boxes/other/`])).to.deep.equal(['other', '--server']);
    expect(await chosen(['--box', 'other'], environment)).to.deep.equal(['other', '--box']);
    expect(await chosen([], { ...environment, BOXCTL_BOX: 'other' })).to.deep.equal(['other', 'BOXCTL_BOX']);
    await boxctl.run(['box', 'use', 'default', '--server', `${api.url}/boxes/default`], { BOXCTL_SERVER: '' });
    expect(await chosen([], { BOXCTL_SERVER: '' })).to.deep.equal(['default', 'boxctl box use']);
    const { code, messages } = await boxctl.run(['box', 'use', 'other', '--server', `${api.url}/boxes/default`]);
    const says = 'boxctl: --server is the address of the box default, not of other\n';
    expect([code, messages]).to.deep.equal([2, says]);
  });

  it('takes a host of a box as the server', async () => {
    // E-26: the base URL of a box that has a host of its own names no box.
    const paths: string[] = [];
    const served = await startServedBoxctl(({ url = '', headers }, response) => {
      paths.push(url);
      const isMetadata = url.startsWith('/.well-known/');
      response.writeHead(isMetadata || url.startsWith('/users') ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(isMetadata ? { issuer: `http://${headers.host ?? ''}` } : []));
    });
    try {
      const list = ['user', 'list', '--output', 'json'];
      const { host } = new URL(served.url);
      expect(await served.boxctl.run(list, { BOXCTL_BOX: '' })).to.deep.equal({
        code: 0,
        output: '[]\n',
        messages: '',
      });
      expect(await served.boxctl.run(list)).to.include({ code: 0, output: '[]\n' });
      await served.boxctl.run(['box', 'use', 'shop', '--server', served.url], { BOXCTL_SERVER: '' });
      const status = ['box', 'status', '--output', 'json'];
      const kept = await served.boxctl.run(status, { BOXCTL_SERVER: '', BOXCTL_BOX: '' });
      expect(JSON.parse(kept.output)).to.include({ box: 'shop', server: served.url });
      const given = await served.boxctl.run(status, { BOXCTL_BOX: '' });
      expect(JSON.parse(given.output)).to.include({ box: host, box_from: 'BOXCTL_SERVER', server: served.url });
      expect(paths.filter((path) => path.startsWith('/boxes/'))).to.deep.equal([]);
    } finally {
      await served.end();
    }
  });

  const short: readonly (readonly [letters: string, words: string])[] = [
    ['box status -o json', 'box status --output json'],
    ['box status -h', 'box status --help'],
    ['-h', '--help'],
    ['--version', 'version'],
    ['box status --version', 'version'],
    ['client new shop -f -', 'client new shop --file -'],
  ];
  for (const [letters, words] of short)
    it(`understands ${letters} as ${words}`, async () => {
      // E-26: the short options that kubectl and others have.
      const environment = { BOXCTL_BOX: 'default', BOXCTL_TOKEN: 'bgt_nothing' };
      const expected = await boxctl.run(words.split(' '), environment);
      expect(await boxctl.run(letters.split(' '), environment)).to.deep.equal(expected);
      expect(expected.code).to.equal(letters.startsWith('client') ? 2 : 0);
    });

  it('exits with 3 for an installation that cannot be reached', async () => {
    const { code, messages } = await boxctl.run(
      ['user', 'list', '--box', 'default', '--server', 'http://127.0.0.1:1'],
      {
        BOXCTL_CLIENT_ID: 'admin',
        BOXCTL_CLIENT_SECRET: adminSecret,
      },
    );
    expect(code).to.equal(3);
    expect(messages).to.match(/^boxctl: http:\/\/127\.0\.0\.1:1 cannot be reached: /);
  });

  it('says that there is no such box, whatever is asked of it', async () => {
    const token = { BOXCTL_TOKEN: 'x', BOXCTL_SERVER: api.url, BOXCTL_BOX: 'nobox' };
    const message = { code: 1, output: '', messages: `boxctl: there is no box nobox at ${api.url}\n` };
    const lines = ['user list', 'user show 1', 'user show a@b.example', 'group show staff', 'client delete orders'];
    for (const line of [...lines, 'client show orders', 'session end x', 'box status', 'token show', 'export'])
      expect(await boxctl.run(line.split(' '), token), line).to.deep.equal(message);
    const client = { ...token, BOXCTL_TOKEN: '', BOXCTL_CLIENT_ID: 'admin', BOXCTL_CLIENT_SECRET: adminSecret };
    expect(await boxctl.run(['user', 'list'], client)).to.deep.equal(message);
  });

  it('explains each command with an example of its own', async () => {
    const { output } = await boxctl.run(['help']);
    const names = [...output.matchAll(/^ {2}boxctl ((?:user|box) \w+)/gm)].map(([, name = '']) => name);
    expect(names).to.have.length.greaterThan(8);
    for (const name of names) {
      const help = await boxctl.run([...name.split(' '), '--help']);
      expect(help.code, name).to.equal(0);
      expect(help.output, name)
        .to.contain(`Usage: boxctl ${name}`)
        .and.to.match(new RegExp(`Examples:\n  boxctl ${name}`));
    }
    expect((await boxctl.run(['version'])).output).to.match(/^boxctl \d+\.\d+\.\d+\n$/);
  });
});

import { writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { isList } from '../../crds/path.ts';
import { COMMANDS } from '../../api/cli/run.ts';
import { adminSecret, type BoxApi } from '../http/resources/box-api.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { onAdminBoxctl, type Boxctl, type Ran } from './boxctl.ts';

const run = promisify(execFile);

/** The cells of a table, line by line. */
function cells({ output }: Ran): readonly (readonly string[])[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
}

describe('boxctl', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ api, boxctl } = started));

  const done = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, output, messages } = await boxctl.run(args, {}, input);
    expect([code, messages]).to.deep.equal([0, '']);
    return output;
  };

  describe('group', () => {
    it('says below the headings that there are none, and nothing beside JSON', async () => {
      const none = await boxctl.run(['group', 'list', '--output', 'table']);
      expect([none.code, cells(none).length, none.messages]).to.deep.equal([0, 1, 'There are none.\n']);
      expect(await boxctl.run(['group', 'list', '--output', 'json'])).to.include({ output: '[]\n', messages: '' });
    });

    it('creates, lists, shows, changes and deletes groups by name or ID', async () => {
      expect(await done(['group', 'new', 'staff', '--description', 'All of us'])).to.equal(
        'Created group staff (id 1) in the box default.\n',
      );
      expect(cells(await boxctl.run(['group', 'list']))).to.deep.equal([
        ['ID', 'NAME', 'MEMBERS', 'DESCRIPTION'],
        ['1', 'staff', '0', 'All of us'],
      ]);
      expect(await done(['group', 'set', 'staff', '--name', 'people'])).to.equal(
        'Changed group people (id 1) in the box default.\n',
      );
      expect(parse(await done(['group', 'show', '1']))).to.deep.include({ id: 1, name: 'people' });
      expect(await done(['group', 'delete', 'people'])).to.equal('Deleted group people (id 1) in the box default.\n');
      expect(await boxctl.run(['group', 'show', 'people'])).to.deep.equal({
        code: 1,
        output: '',
        messages: 'boxctl: there is no group "people" in the box default\n',
      });
    });
  });

  describe('client', () => {
    it('creates a client with a generated secret, which works', async () => {
      const output = await done(['client', 'new', 'orders', '--grant', 'client_credentials', '--generate-secret']);
      const [secret = '', told] = output.split('\n');
      expect(secret).to.match(/^bgs_/);
      expect(told).to.equal('Created client orders in the box default.');
      expect((await api.requestToken('orders', secret)).status).to.equal(200);
    });

    it('reads a client from a file and its secret from standard input', async () => {
      const file = path.join(boxctl.home, 'client.yaml');
      writeFileSync(file, 'grant_types: [client_credentials]\nname: Reports\n');
      await done(['client', 'new', 'reports', '--file', file, '--secret'], 'a chosen secret\n');
      expect((await api.requestToken('reports', 'a chosen secret')).status).to.equal(200);
      expect(parse(await done(['client', 'show', 'reports']))).to.deep.include({ id: 'reports', name: 'Reports' });
    });

    it('lists clients, changes and deletes one', async () => {
      const [, ...rows] = cells(await boxctl.run(['client', 'list', '--grant_types', 'client_credentials']));
      expect(rows.map(([id]) => id)).to.deep.equal(['admin', 'orders', 'reports']);
      await done(['client', 'set', 'orders', '--active', 'false', '--scope', 'read', '--scope', 'write']);
      const { body } = await api.call('GET', '/Client/orders');
      expect(body).to.deep.include({ active: false, scope: ['read', 'write'] });
      await done(['client', 'set', 'orders', '--file', '-'], '{"scope": null}');
      expect((await api.call('GET', '/Client/orders')).body).not.to.have.property('scope');
      expect(await done(['client', 'delete', 'orders'])).to.equal('Deleted client orders in the box default.\n');
      expect((await boxctl.run(['client', 'delete', 'orders'])).messages).to.equal(
        'boxctl: there is no client "orders" in the box default\n',
      );
    });

    it('says what changes a client that is there, and that a file is not', async () => {
      expect((await boxctl.run(['client', 'new', 'reports', '--grant', 'client_credentials'])).messages).to.equal(
        'boxctl: there is a client reports in the box default: change it with `boxctl client set reports …`\n',
      );
      const absent = await boxctl.run(['client', 'new', 'x', '--file', '/nonexistent']);
      expect(absent.messages).to.equal('boxctl: /nonexistent cannot be read: it is not there\n');
    });

    it('says each fault of a client, and refuses a reserved ID by name of the field', async () => {
      const { code, messages } = await boxctl.run(['client', 'new', 'boxgate.x', '--grant', 'no_such_grant']);
      expect(code).to.equal(1);
      expect(messages).to.contain('grant_types[0]');
      const reserved = await boxctl.run(['client', 'new', 'boxgate.x', '--redirect-uri', 'https://a.example/b']);
      expect(reserved.messages).to.contain('grant_types');
      const only = await boxctl.run(['client', 'new', 'boxgate.x', '--file', '-'], {}, '{"grant_types": []}');
      expect(only.messages).to.contain('id must not begin with boxgate.');
    });
  });

  describe('policy, can and explain', () => {
    it('creates a policy, tells who may do what and why not, and deletes it', async () => {
      const expression = 'request_method == "get"';
      await done([
        'policy',
        'new',
        'readers',
        '--engine',
        'cel',
        '--expression',
        expression,
        '--link',
        'Client/reports',
      ]);
      expect(cells(await boxctl.run(['policy', 'list', '--link', 'Client/reports']))).to.deep.equal([
        ['ID', 'ENGINE', 'SUBJECTS', 'LINKS', 'APPS', 'LAST USED', 'UNUSED FOR 90 DAYS'],
        ['readers', 'cel', 'linked', 'Client/reports', 'never', 'no'],
      ]);
      expect(await done(['can', 'client:reports', 'GET', '/Client'])).to.equal('yes, by the policy readers\n');
      const denied = await boxctl.run(['can', 'client:reports', 'DELETE', '/Client/app']);
      expect([denied.code, denied.output]).to.deep.equal([1, '']);
      expect(denied.messages).to.equal(
        'boxctl: no: the policies for this subject do not allow it\n  readers (cel): its rule is not true for this request\n' +
          '  admin would allow it: it is for the client admin\n' +
          '  the token is taken to have no scope; --scope gives it one\n',
      );
      const stranger = await boxctl.run(['can', 'anyone', 'GET', '/users']);
      expect(stranger.messages).to.contain('no policy is for this subject');
      expect(cells(await boxctl.run(['explain', 'client:reports', 'PUT', '/Client/app']))).to.deep.equal([
        ['POLICY', 'ENGINE', 'GRANTS', 'REASON'],
        ['readers', 'cel', 'no'],
      ]);
      const pattern = { engine: 'matcho', matcho: { 'request-method': 'get' }, expression: null };
      await api.call('PATCH', '/AccessPolicy/readers', { body: pattern, type: 'application/merge-patch+json' });
      const deleting = await boxctl.run(['can', 'client:reports', 'DELETE', '/Session/1']);
      expect(deleting.messages).to.contain('readers (matcho): its rule wants request-method: "get"\n');
      await done(['policy', 'set', 'readers', '--link', 'Client/admin', '--link', 'Client/boxgate.ui']);
      expect(parse(await done(['policy', 'show', 'readers'])))
        .to.have.property('link')
        .with.length(2);
      await done(['policy', 'delete', 'readers']);
    });

    it('policy list tells when a policy was last used, and lists those that are unused', async () => {
      const rows = async (...options: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> =>
        new Map(cells(await boxctl.run(['policy', 'list', ...options])).map((row) => [row[0] ?? '', row.slice(-2)]));
      await done(['policy', 'new', 'old', '--engine', 'allow', '--link', 'Client/boxgate.cli']);
      await ownerQuery(api, `UPDATE boxgate.resource SET created_at = now() - interval '91 days' WHERE id = 'old'`, []);
      await ownerQuery(api, `UPDATE boxgate.schema_version SET applied_at = now() - interval '91 days'`, []);
      await eventually('the use of the policy admin is recorded', async () =>
        Number.isFinite(Date.parse((await rows()).get('admin')?.[0] ?? '')),
      );
      const all = await rows();
      expect([all.get('admin')?.[1], all.get('old')]).to.deep.equal(['no', ['never', 'yes']]);
      expect([...(await rows('--unused')).keys()]).to.deep.equal(['ID', 'old']);
      const json: unknown = JSON.parse(await done(['policy', 'list', '--unused', '--output', 'json']));
      expect(json).to.have.length(1);
      expect(isList(json) ? json[0] : {}).to.have.all.keys('resourceType', 'id', 'engine', 'link', 'created_at');
      await done(['policy', 'delete', 'old']);
    });

    it('policy list without the right to the use of policies has ? there, and refuses --unused', async () => {
      const [secret = ''] = (
        await done(['client', 'new', 'lists', '--grant', 'client_credentials', '--generate-secret'])
      ).split('\n');
      const rule = 'uri == "/AccessPolicy"';
      await done(['policy', 'new', 'lists', '--engine', 'cel', '--expression', rule, '--link', 'Client/lists']);
      const own = { BOXCTL_CLIENT_ID: 'lists', BOXCTL_CLIENT_SECRET: secret };
      const listed = cells(await boxctl.run(['policy', 'list'], own));
      expect(listed.slice(1).map((row) => row.slice(-2))).to.deep.equal([
        ['?', '?'],
        ['?', '?'],
      ]);
      const { code, output, messages } = await boxctl.run(['policy', 'list', '--unused'], own);
      expect([code, output]).to.deep.equal([1, '']);
      expect(messages).to.contain('GET /AccessPolicy/$usage, which --unused needs');
      await done(['policy', 'delete', 'lists']);
      await done(['client', 'delete', 'lists']);
    });

    it('asks for a user by email, with the query, headers and body of the request', async () => {
      const user = await api.call('POST', '/users', { body: { email: 'ann@mail.example', password: 'correct horse' } });
      expect(user.status).to.equal(201);
      const rule = 'request_method == "post" && params.q == "1" && headers["x-team"] == "blue" && body.n == 2';
      await done(['policy', 'new', 'odd', '--engine', 'cel', '--expression', rule, '--subjects', 'authenticated']);
      const question = ['can', 'ann@mail.example', 'POST', '/Client?q=1', '--client', 'reports'];
      const request = [...question, '--header', 'X-Team: blue', '--body'];
      expect(await done([...request, '{"n": 2}'])).to.equal('yes, by the policy odd\n');
      expect((await boxctl.run([...request, '{"n": 3}'])).code).to.equal(1);
      expect((await boxctl.run([...request, 'no JSON'])).code).to.equal(2);
      expect((await boxctl.run(['can', 'nobody', 'GET', '/'])).code).to.equal(2);
      const twice = await boxctl.run([
        'can',
        'ann@mail.example',
        'POST',
        '/Client?q=2&q=1',
        ...request.slice(4),
        '{"n": 2}',
      ]);
      expect([twice.code, twice.output]).to.deep.equal([1, '']);
      await done(['policy', 'delete', 'odd']);
    });
  });

  describe('session', () => {
    const active = async (client: string): Promise<number> => {
      const { body } = await api.call('GET', `/Session?client=${client}&status=active&_result=array`);
      return isList(body) ? body.length : -1;
    };

    it('lists and shows sessions, ends one, and ends those of a client', async () => {
      for (let nth = 0; nth < 4; nth += 1) await api.requestToken('reports', 'a chosen secret');
      const [heading, ...rows] = cells(
        await boxctl.run(['session', 'list', '--client', 'reports', '--status', 'active']),
      );
      expect(heading?.slice(0, 5)).to.deep.equal(['ID', 'SUBJECT', 'CLIENT', 'TYPE', 'STATUS']);
      expect(rows).to.have.length(await active('reports'));
      const [id = ''] = rows[0] ?? [];
      expect(parse(await done(['session', 'show', id]))).to.deep.include({ id, status: 'active' });
      const before = await active('reports');
      expect(await done(['session', 'end', id])).to.equal('Ended 1 session in the box default.\n');
      expect(await done(['session', 'end', '--client', 'reports'])).to.equal(
        `Ended ${String(before - 1)} sessions in the box default.\n`,
      );
      expect(await active('reports')).to.equal(0);
    });

    it('ends nothing without a name, and says which session is not there', async () => {
      expect((await boxctl.run(['session', 'end'])).code).to.equal(2);
      const absent = '019a0000-0000-7000-8000-000000000000';
      expect((await boxctl.run(['session', 'end', absent])).messages).to.contain(`there is no session "${absent}"`);
    });

    it('ends the session of its own token with those of its client', async () => {
      expect((await boxctl.run(['session', 'end', '--client', 'admin', '--box', 'other'])).code).to.equal(0);
    });
  });

  it('audit lists records, the newest first, and filters them', async () => {
    const [heading, ...rows] = cells(await boxctl.run(['audit', '--event', 'client.created', '--limit', '1']));
    expect(heading).to.deep.equal(['TIME', 'EVENT', 'RESULT', 'ACTOR', 'TARGET', 'ADDRESS', 'COUNT']);
    expect(rows).to.have.length(1);
    expect(rows[0]?.slice(1, 5)).to.deep.equal(['client.created', 'success', 'test', 'Client/admin']);
    await api.call('PUT', '/AccessPolicy/audited', { body: { engine: 'allow' } });
    await api.call('DELETE', '/AccessPolicy/audited');
    const from = async (address: string): Promise<unknown> =>
      JSON.parse(await done(['audit', '--address', address, '--output', 'json']));
    expect(await from('192.0.2.1')).to.deep.equal([]);
    expect(await from('127.0.0.1')).not.to.deep.equal([]);
    const none = await boxctl.run(['audit', '--until', '2020-01-01T00:00:00Z', '--output', 'json']);
    expect(JSON.parse(none.output)).to.deep.equal([]);
    expect((await boxctl.run(['audit', '--limit', 'many'])).code).to.equal(2);
    expect((await boxctl.run(['audit', '--since', 'yesterday'])).messages).to.equal(
      'boxctl: --since must be a date or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z\n',
    );
    expect(await done(['audit', '--since', '2026-01-31', '--output', 'json'])).not.to.equal('[]\n');
    expect((await boxctl.run(['audit', '--user', 'nobody@mail.example'])).messages).to.contain('there is no user');
    const user = await api.call('POST', '/users', { body: { email: 'eve@mail.example', password: 'correct horse' } });
    expect(user.status).to.equal(201);
    expect(JSON.parse(await done(['audit', '--user', 'eve@mail.example', '--output', 'json']))).to.deep.equal([]);
  });

  it('box list tells which box is chosen', async () => {
    await done(['box', 'use', 'default', '--server', api.url]);
    expect(JSON.parse(await done(['box', 'list', '--output', 'json']))).to.deep.equal([
      { box: 'default', server: api.url, client: '', chosen: true },
    ]);
  });

  it('prints the same record as JSON, YAML and a table', async () => {
    const json: unknown = JSON.parse(await done(['client', 'show', 'admin', '--output', 'json']));
    expect(parse(await done(['client', 'show', 'admin', '--output', 'yaml']))).to.deep.equal(json);
    expect(await done(['client', 'show', 'admin', '--output', 'table'])).to.match(/^ID +NAME +GRANTS/);
  });

  it('follows a long list to its end, and stops at --limit', async () => {
    for (let nth = 0; nth < 3; nth += 1) await api.requestToken('admin', adminSecret);
    const { output } = await boxctl.run(['session', 'list', '--limit', '2', '--output', 'json']);
    expect(JSON.parse(output)).to.have.length(2);
  });

  describe('on the command line', () => {
    for (const {
      name,
      arguments: [least],
    } of COMMANDS) {
      it(`${name} --help shows how it is used, with examples that are understood`, async () => {
        const output = await done([...name.split(' '), '--help']);
        expect(output).to.contain(name === 'token' ? 'boxctl token' : `Usage: boxctl ${name}`);
        expect(output).to.contain('boxctl');
        expect(least).to.be.greaterThan(-1);
      });
    }

    it('every group and the whole have a help text with examples, at most 80 columns wide', async () => {
      for (const words of [[], ['user'], ['client'], ['policy'], ['group'], ['session'], ['box'], ['token']]) {
        const text = await done([...words, 'help']);
        expect(text).to.contain('Commands:');
        const [, examples = ''] = /^Examples:\n((?: {2}boxctl .+\n)+)$/m.exec(text) ?? [];
        expect(examples.trimEnd().split('\n').length, text).to.be.within(2, 3);
        for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(80);
        expect(await done([...words, '--help'])).to.equal(text);
        expect(await done(['help', ...words])).to.equal(text);
      }
    });

    it('help in front of a command explains it, and of no command suggests one', async () => {
      expect(await done(['help', 'user', 'new'])).to.equal(await done(['user', 'new', '--help']));
      expect((await boxctl.run(['help', 'usr'])).messages).to.contain('Did you mean `user`?');
    });

    it('a word that is not known gets a suggestion and 2', async () => {
      const mistakes = {
        'clinet list': 'client',
        'client lsit': 'client list',
        logn: 'login',
        hlep: 'help',
        'user hlep': 'user help',
        'session end --clint x': '--client',
      };
      for (const [line, hint] of Object.entries(mistakes)) {
        const { code, messages } = await boxctl.run(line.split(' '));
        expect([line, code]).to.deep.equal([line, 2]);
        expect(messages).to.contain(`Did you mean`).and.to.contain(hint);
      }
    });

    it('an option of one value may be given only once', async () => {
      const { code, messages } = await boxctl.run(['policy', 'list', '--link', 'Client/a', '--link', 'Client/b']);
      expect([code, messages]).to.deep.equal([2, 'boxctl: --link may be given only once\n']);
    });

    it('3 says that the box cannot be reached', async () => {
      const { code, messages } = await boxctl.run(['client', 'list'], {
        BOXCTL_SERVER: 'http://127.0.0.1:1',
        BOXCTL_TOKEN: 'x',
      });
      expect(code).to.equal(3);
      expect(messages).to.contain('http://127.0.0.1:1 cannot be reached');
    });

    it('headings are bold on a terminal, unless NO_COLOR is set', async () => {
      const list = ['client', 'list', '--server', api.url, '--box', 'default'];
      for (const colour of [true, false]) {
        const program = boxctl.onTerminal(list, colour ? {} : { NO_COLOR: '1' });
        await eventually('it ends', () => program.hasEnded());
        expect(program.said().includes('\x1b[1mID')).to.equal(colour);
      }
    });
  });

  describe('completion', () => {
    const completed = async (...words: readonly string[]): Promise<readonly string[]> => {
      const script = await done(['completion', 'bash']);
      const line = `${script}\nCOMP_WORDS=(boxctl ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${String(words.length)}; _boxctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await run('bash', ['-c', line]);
      return [...new Set(stdout.split('\n').filter((word) => word !== ''))];
    };

    it('bash completes commands, subcommands and options', async () => {
      expect(await completed('ses')).to.deep.equal(['session']);
      expect(await completed('session', '')).to.have.members(['list', 'show', 'end']);
      expect(await completed('session', 'end', '--cl')).to.deep.equal(['--client']);
      expect(await completed('user', 'set', '7', '--pass')).to.deep.equal(['--password']);
    });

    it('offers --output to the commands that have it, and to no other', async () => {
      for (const { name, hasNoRecord = false } of COMMANDS)
        expect(await completed(...name.split(' '), '--outp'), name).to.deep.equal(hasNoRecord ? [] : ['--output']);
      const fish = (await done(['completion', 'fish'])).split('\n').filter((line) => line.endsWith(' -l output'));
      expect(fish.filter((line) => /seen_subcommand_from (?:logout|login|delete)/.test(line))).to.deep.equal([]);
      expect(fish).not.to.have.length(0);
    });

    it('fish and zsh get scripts, another shell is refused', async () => {
      expect(await done(['completion', 'fish'])).to.contain("__fish_seen_subcommand_from session' -a end");
      expect(await done(['completion', 'zsh'])).to.match(/^#compdef boxctl\n/);
      expect((await boxctl.run(['completion', 'tcsh'])).code).to.equal(2);
    });
  });
});

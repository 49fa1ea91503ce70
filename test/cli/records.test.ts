import { expect } from 'chai';
import { parse } from 'yaml';
import { onAdminBoxctl, type Boxctl } from './boxctl.ts';

describe('boxctl --output', () => {
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ boxctl } = started));

  const json = async (line: string, input = ''): Promise<unknown> => {
    const { code, output, messages } = await boxctl.run([...line.split(' '), '--output', 'json'], {}, input);
    expect([line, code, messages]).to.deep.equal([line, 0, '']);
    const record: unknown = JSON.parse(output);
    return record;
  };

  it('prints the record that a command created or changed', async () => {
    const user = { id: 1, email: 'ann@mail.example' };
    expect(await json('user new -', 'ann@mail.example:correct horse\n'))
      .to.deep.include(user)
      .and.not.to.have.property('password');
    expect(await json('user set 1 --email bea@mail.example')).to.deep.include({ ...user, email: 'bea@mail.example' });
    expect(await json('user disable 1')).to.deep.include({ status: 'inactive' });
    expect(await json('user enable 1')).to.have.property('id', 1);
    expect(await json('group new staff')).to.deep.include({ id: 1, name: 'staff' });
    expect(await json('group set staff --name people')).to.deep.include({ id: 1, name: 'people' });
    expect(await json('user groups 1')).to.deep.equal([]);
    expect(await json('user groups 1 --add people')).to.have.nested.property('[0].name', 'people');
    expect(await json('policy new p --engine allow --link Client/admin')).to.deep.include({ id: 'p', engine: 'allow' });
    expect(await json('policy set p --subjects authenticated')).to.deep.include({ subjects: 'authenticated' });
    expect(parse((await boxctl.run(['group', 'new', 'guests', '--output', 'yaml'])).output)).to.have.property('id', 2);
    expect((await boxctl.run(['group', 'set', 'guests', '--name', 'g', '--output', 'table'])).output).to.match(
      /^ID +NAME +MEMBERS +DESCRIPTION\n2 +g /,
    );
  });

  it('has the generated secret of a client as its field', async () => {
    const created = await json('client new orders --grant client_credentials --generate-secret');
    expect(created).to.deep.include({ id: 'orders' }).and.to.have.property('secret').that.match(/^bgs_/);
    const changed = await json('client set orders --generate-secret');
    expect(changed).to.have.property('secret').that.match(/^bgs_/);
    expect(await json('client set orders --name Orders')).not.to.have.property('secret');
  });

  it('prints the decision of can, which exits as without it', async () => {
    expect(await json('can client:admin GET /users')).to.deep.include({ granted: true, policy: 'admin' });
    expect(await json('can client:admin GET /users')).not.to.have.property('assumed_client');
    const denied = await boxctl.run('can anyone GET /users --output json'.split(' '));
    expect([denied.code, denied.messages]).to.deep.equal([1, '']);
    expect(JSON.parse(denied.output)).to.deep.include({ granted: false, candidates: [] });
  });

  // E-17
  it('names the client that is assumed for a user without one', async () => {
    const assumed = 'boxctl: the user is taken to be signed in to boxgate.ui; --client names another client\n';
    expect(await boxctl.run('can user:1 GET /users --client admin'.split(' '))).to.include({ messages: '' });
    for (const line of ['can user:1 GET /users', 'explain user:1 GET /users'])
      expect(await boxctl.run(line.split(' ')), line).to.include({ code: 0, messages: assumed });
    const denied = await boxctl.run('can user:1 GET /orders --app orders'.split(' '));
    expect([denied.code, denied.output]).to.deep.equal([1, '']);
    expect(denied.messages).to.contain('boxctl: no: ').and.to.contain(assumed);
    const record = await boxctl.run('can user:1 GET /users --output json'.split(' '));
    expect(JSON.parse(record.output)).to.include({ granted: true, assumed_client: 'boxgate.ui' });
  });

  it('prints the version', async () => {
    expect(await json('version'))
      .to.have.property('version')
      .that.match(/^\d/);
  });

  for (const line of [
    'login',
    'logout',
    'token',
    'box use default',
    'completion bash',
    'session end x',
    'user delete 1',
    'group delete people',
    'client delete orders',
    'policy delete p',
  ])
    it(`is refused by ${line}, which prints no record`, async () => {
      const { code, output, messages } = await boxctl.run([...line.split(' '), '--output', 'json']);
      expect([code, output]).to.deep.equal([2, '']);
      expect(messages).to.match(/^boxctl: `boxctl [a-z ]+` prints no record, so it has no --output\n$/);
    });

  it('is not table for export, whose manifests have no columns', async () => {
    const { code, output, messages } = await boxctl.run(['export', '--output', 'table']);
    expect({ code, output, messages }).to.deep.equal({
      code: 2,
      output: '',
      messages: 'boxctl: --output must be one of json, yaml\n',
    });
  });

  it('names all its values, with those of the command', async () => {
    for (const [line, values] of [
      ['plan .', 'json, yaml, table, markdown'],
      ['user list', 'json, yaml, table'],
      ['export', 'json, yaml'],
    ] as const)
      expect(await boxctl.run([...line.split(' '), '--output', 'csv'])).to.deep.equal({
        code: 2,
        output: '',
        messages: `boxctl: --output must be one of ${values}\n`,
      });
  });
});

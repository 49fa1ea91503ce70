import { expect } from 'chai';
import { isList, isObject } from '../../crds/path.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import type { BoxApi } from '../http/resources/box-api.ts';
import { onAdminBoxctl, type Boxctl } from './boxctl.ts';

describe('boxctl user', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ api, boxctl } = started));

  const users = async (): Promise<readonly unknown[]> => {
    const { body } = await api.call('GET', '/users');
    return isList(body) ? body : [];
  };
  const emails = async (): Promise<readonly unknown[]> => (await users()).filter(isObject).map((user) => user['email']);

  /** The wizard, once it has ended after these answers to its two questions. */
  async function endedWizard(email: string, password: string): Promise<ChildProgram> {
    const wizard = boxctl.onTerminal(['user', 'new']);
    await eventually('it asks for the email', () => wizard.said().includes('Email: '));
    wizard.write(email);
    await eventually('it asks for the password', () => wizard.said().includes('Password: '));
    wizard.write(password);
    await eventually('it ends', () => wizard.hasEnded());
    return wizard;
  }

  it('interface §4.6: `user help` lists the subcommands', async () => {
    const { code, output } = await boxctl.run(['user', 'help']);
    expect(code).to.equal(0);
    for (const subcommand of ['list', 'new', 'show', 'set', 'disable', 'enable', 'groups', 'delete'])
      expect(output).to.contain(`boxctl user ${subcommand}`);
  });

  it('interface §4.6: `user new <email>:<password>` creates the user inline, and names user and box', async () => {
    const { code, output, messages } = await boxctl.run(['user', 'new', 'ann@mail.example:correct horse']);
    expect({ code, output }).to.deep.equal({
      code: 0,
      output: 'Created user ann@mail.example (id 1) in the box default.\n',
    });
    expect(messages).to.contain('the list of processes');
  });

  it('interface §4.6: `user list` prints the users of the current box as raw JSON', async () => {
    const { code, output } = await boxctl.run(['user', 'list']);
    expect(code).to.equal(0);
    expect(JSON.parse(output)).to.deep.equal(await users());
  });

  it('interface §4.6: `user new` asks for email and password, does not show the password, and names user and box', async () => {
    const wizard = await endedWizard('bea@mail.example\r', 'battery staple\r');
    expect(wizard.said()).to.contain('Created user bea@mail.example (id 2) in the box default.');
    expect(wizard.said()).not.to.contain('battery');
    expect(await emails()).to.include('bea@mail.example');
  });

  it('the wizard asks again for what the box refuses, and only for that', async () => {
    const wizard = boxctl.onTerminal(['user', 'new']);
    const asked = (question: string, times: number) =>
      eventually(`${question} is asked ${String(times)} times`, () => wizard.said().split(question).length > times);
    await asked('Email: ', 1);
    wizard.write('no email\r');
    await asked('Password: ', 1);
    wizard.write('battery staple\r');
    await asked('Email: ', 2);
    expect(wizard.said()).to.contain('email: ');
    wizard.write('ann@mail.example\r');
    await asked('Email: ', 3);
    expect(wizard.said()).to.contain('is taken');
    wizard.write('cleo@mail.example\r');
    await eventually('it ends', () => wizard.hasEnded());
    expect(wizard.said()).to.contain('Created user cleo@mail.example');
    expect(wizard.said().split('Password: ')).to.have.length(2);
  });

  it('the wizard ends where another email or password would change nothing: the box is full', async () => {
    await api.declareWithin('default', { users: 3 }, []);
    const wizard = await endedWizard('dora@mail.example\r', 'battery staple\r');
    expect(wizard.said()).to.contain('boxctl: the user is not created:').and.to.contain('users');
    expect(wizard.said().split('Email: ')).to.have.length(2);
    await api.declareWithin('default', { users: 1_000 }, []);
  });

  it('^C in the wizard creates nobody', async () => {
    const before = await users();
    await endedWizard('dan@mail.example\r', 'battery st\x03');
    expect(await users()).to.deep.equal(before);
  });

  it('L-01 splits at the first colon, so that a password may hold others', async () => {
    await boxctl.run(['user', 'new', 'eve@mail.example:pass:word:battery']);
    const id = (await emails()).indexOf('eve@mail.example');
    expect(id).to.be.greaterThan(-1);
    const { output } = await boxctl.run(['user', 'list', '--q', 'eve', '--output', 'table']);
    expect(output).to.match(/^ID +EMAIL +STATUS +GROUPS\n\d+ +eve@mail\.example +active\n$/);
  });

  it('L-01 reads <email>:<password> from standard input for -', async () => {
    const { code, output, messages } = await boxctl.run(['user', 'new', '-'], {}, 'finn@mail.example:battery staple\n');
    expect({ code, messages }).to.deep.equal({ code: 0, messages: '' });
    expect(output).to.match(/^Created user finn@mail\.example \(id \d+\) in the box default\.\n$/);
  });

  it('says each fault of a user that is not created, and exits with 1', async () => {
    await api.call('POST', '/users', { body: { email: 'hal@mail.example', password: 'correct horse' } });
    const { code, output, messages } = await boxctl.run(['user', 'new', '-'], {}, 'hal@mail.example:short\n');
    expect({ code, output }).to.deep.equal({ code: 1, output: '' });
    expect(messages).to.match(/^boxctl: the user is not created:\n/);
    expect(messages)
      .to.match(/\n {2}email: is taken/)
      .and.to.match(/\n {2}password: /);
    expect(messages).not.to.contain('short\n');
  });

  it('shows a user by email without the hash, changes, disables, enables and deletes it', async () => {
    const shown = await boxctl.run(['user', 'show', 'ann@mail.example']);
    expect(JSON.parse(shown.output))
      .to.deep.include({ id: 1, email: 'ann@mail.example' })
      .and.not.to.have.property('password');
    const changed = await boxctl.run([
      'user',
      'set',
      '1',
      '--email',
      'anna@mail.example',
      '--data',
      '{"team": "blue"}',
    ]);
    expect(changed.output).to.equal('Changed user anna@mail.example (id 1) in the box default.\n');
    expect((await boxctl.run(['user', 'disable', '1'])).output).to.equal(
      'User anna@mail.example (id 1) in the box default is inactive.\n',
    );
    expect((await api.call('GET', '/users/1')).body).to.deep.include({ status: 'inactive', data: '{"team": "blue"}' });
    await boxctl.run(['user', 'enable', '1']);
    expect((await api.call('GET', '/users/1')).body).to.deep.include({ status: 'active' });
    await boxctl.run(['user', 'delete', 'anna@mail.example']);
    expect((await api.call('GET', '/users/1')).status).to.equal(404);
    const gone = await boxctl.run(['user', 'show', 'anna@mail.example']);
    expect(gone).to.deep.equal({
      code: 1,
      output: '',
      messages: 'boxctl: there is no user "anna@mail.example" in the box default\n',
    });
  });

  it('reads a new password from standard input', async () => {
    const before = await api.call('GET', '/users/2');
    const { code, output } = await boxctl.run(['user', 'set', '2', '--password'], {}, 'another battery\n');
    expect({ code, output }).to.deep.equal({
      code: 0,
      output: 'Changed user bea@mail.example (id 2) in the box default.\n',
    });
    const after = await api.call('GET', '/users/2');
    expect(Reflect.get(Object(after.body), 'password')).not.to.equal(Reflect.get(Object(before.body), 'password'));
  });

  it('adds a user to groups and removes it from others, by name', async () => {
    for (const name of ['staff', 'guests']) await api.call('POST', '/Group', { body: { name } });
    expect((await boxctl.run(['user', 'groups', '2', '--add', 'guests'])).output).to.equal('guests\n');
    expect((await boxctl.run(['user', 'groups', '2', '--add', 'staff', '--remove', 'guests'])).output).to.equal(
      'staff\n',
    );
    expect((await boxctl.run(['user', 'groups', '2'])).output).to.equal('staff\n');
    const unknown = await boxctl.run(['user', 'groups', '2', '--add', 'nobody']);
    expect(unknown).to.deep.include({ code: 1, messages: 'boxctl: there is no group "nobody" in the box default\n' });
  });

  it('follows a long list to its end', async () => {
    await ownerQuery(
      api,
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       SELECT 'other', n, n || '@mail.example', n || '@mail.example', 'x', 'x' FROM generate_series(1, 1001) AS n`,
      [],
    );
    const { output } = await boxctl.run(['user', 'list', '--box', 'other']);
    expect(JSON.parse(output)).to.have.length(1001);
  });

  it('L-02 escapes what could move the cursor of a terminal', async () => {
    await api.call('POST', '/users', {
      body: { email: 'gus@mail.example', password: 'correct horse', data: '"\u009b31m\u202e"' },
    });
    for (const format of ['json', 'yaml']) {
      const { output } = await boxctl.run(['user', 'show', 'gus@mail.example', '--output', format]);
      expect(output, format)
        .to.contain('\\u009b31m\\u202e')
        .and.not.to.match(/[\u0080-\u009f\u202e]/);
    }
  });

  it('closes the session of the token that it got for a command', async () => {
    await boxctl.run(['user', 'list']);
    const { body } = await api.call('GET', '/Session?client=admin&status=active&_result=array');
    // The one of the test itself.
    expect(body).to.have.length(1);
  });
});

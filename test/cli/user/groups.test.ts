import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { BoxApi } from '../../http/resources/box-api.ts';
import { onAdminBoxctl, startServedBoxctl, type Boxctl, type ServedBoxctl } from '../boxctl.ts';

describe('boxctl user groups', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ api, boxctl } = started));

  it('loses no change of another run at the same time', async () => {
    await api.call('POST', '/users', { body: { email: 'ann@mail.example', password: 'correct horse' } });
    const names = ['audit', 'billing', 'orders', 'staff'];
    for (const name of names) await api.call('POST', '/Group', { body: { name } });
    const runs = names.map((name) => boxctl.run(['user', 'groups', 'ann@mail.example', '--add', name]));
    for (const { code, messages } of await Promise.all(runs)) expect([code, messages]).to.deep.equal([0, '']);
    expect((await boxctl.run(['user', 'groups', '1'])).output.trimEnd().split('\n')).to.have.members(names);
    const removals = names.map((name) => boxctl.run(['user', 'groups', '1', '--remove', name]));
    for (const { code } of await Promise.all(removals)) expect(code).to.equal(0);
    expect(await boxctl.run(['user', 'groups', '1'])).to.include({
      output: '',
      messages: 'ann@mail.example (id 1) is in no group\n',
    });
  });
});

describe('boxctl user groups at a box whose user changes all the time', () => {
  let served: ServedBoxctl;
  let version = 0;
  /** The `If-Match` of each PUT. */
  const conditions: unknown[] = [];

  const user = (): object => ({ id: 1, email: 'ann@mail.example', 'group-ids': [], groups: null, status: null });
  const reply = ({ method, headers }: IncomingMessage): readonly [status: number, body: object] => {
    if (method === 'GET') return [200, user()];
    conditions.push(headers['if-match']);
    version += 1;
    return [412, { resourceType: 'OperationOutcome', issue: [] }];
  };

  before(async () => {
    served = await startServedBoxctl((request, response) => {
      const [status, body] = reply(request);
      const headers = { 'Content-Type': 'application/json', ETag: `"${String(version)}"` };
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  });
  after(() => served.end());

  it('reads again a few times, with the version that it has read, and then says so', async () => {
    expect(await served.boxctl.run(['user', 'groups', '1', '--add', '7'])).to.deep.equal({
      code: 1,
      output: '',
      messages:
        'boxctl: ann@mail.example (id 1) was changed by others at the same time, 5 times: run the command again\n',
    });
    expect(conditions).to.deep.equal(['"0"', '"1"', '"2"', '"3"', '"4"']);
  });
});

import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { addUser, hiddenFields, newBrowser } from '../../pages/browser.ts';
import { auditRecords, eventsOf } from './audit-records.ts';
import type { AuditRecords } from './audit-records.ts';
import { adminSecret, startBoxApi, stringIn } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const password = 'a long enough passphrase';

describe('the audit trail', () => {
  let api: BoxApi;
  let trail: AuditRecords;

  before(async () => {
    api = await startBoxApi();
    trail = auditRecords(api);
    await api.declare('default', [
      { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret: 'stranger-secret' },
    ]);
  });
  after(() => api.stop());

  it('records sign-ins and sign-outs of a user, and the failures before them', async () => {
    const id = await addUser(api, 'eve@shop.example', password);
    const target = { resourceType: 'User', id: String(id) };
    const browser = newBrowser(api);
    for (const wrong of ['wrong one', 'wrong two']) {
      await browser.submit('/auth/signin', { email: 'eve@shop.example', password: wrong });
    }
    await browser.submit('/auth/signin', { email: 'eve@shop.example', password });
    await browser.submit('/auth/signout', {});
    const failed = await trail.written(`event=user.sign_in_failed&target=User/${String(id)}`);
    expect(failed).to.deep.include({ result: 'failure', target });
    expect(failed['actor']).to.deep.equal({ remote_addr: '127.0.0.1' });
    for (const event of ['user.signed_in', 'user.signed_out']) {
      const record = await trail.written(`event=${event}&user=${String(id)}`);
      expect(record).to.deep.include({ result: 'success', target });
      expect(record['actor']).to.deep.equal({ user: target, remote_addr: '127.0.0.1' });
    }
  });

  it('records who was denied what, of resources and at a gateway', async () => {
    const token = stringIn(await api.requestToken('stranger', 'stranger-secret'), 'access_token');
    expect((await api.call('DELETE', '/Client/admin', { token })).status).to.equal(403);
    expect((await api.call('GET', '/users', { token })).status).to.equal(403);
    const headers = { 'X-Original-Method': 'GET', 'X-Original-URI': '/', Host: 'app.example' };
    expect((await api.call('GET', '/auth/check?app=app.example', { token, headers })).status).to.equal(403);
    const actor = { client: { resourceType: 'Client', id: 'stranger' }, remote_addr: '127.0.0.1' };
    const denied = await trail.written('event=access.denied&client=stranger&target=Client/admin');
    expect(denied).to.deep.include({ result: 'denied', actor, count: 1 });
    expect(await trail.written('event=access.denied&client=stranger&target=User/')).to.deep.include({
      target: { resourceType: 'User' },
    });
    await eventually('the gateway is recorded', async () => {
      return (await trail.found('event=access.denied&client=stranger')).some(({ target }) => target === undefined);
    });
  });

  it('records a consent that was given with its transaction, and its removal', async () => {
    const auth = { implicit: { redirect_uri: 'https://app.example/back' } };
    await api.declare('default', [{ kind: 'Client', id: 'shop', grant_types: ['implicit'], auth, scope: ['read'] }]);
    const id = await addUser(api, 'fay@shop.example', password);
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'fay@shop.example', password });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=shop&scope=read');
    await browser.submit(location, { answer: 'allow' });
    const target = { resourceType: 'Grant', id: `${String(id)}.shop` };
    const [given] = await trail.found(`event=consent.given&user=${String(id)}`);
    expect(given).to.deep.include({ target, result: 'success' });
    expect(eventsOf(await trail.change('DELETE', `/Grant/${target.id}`))).to.deep.equal([['consent.removed', 'Grant']]);
  });

  it('records whose access ended because somebody else signed in with the same browser, and by whom', async () => {
    const auth = { implicit: { redirect_uri: 'https://app.example/back' } };
    const kiosk = { kind: 'Client' as const, id: 'kiosk', grant_types: ['implicit'], auth, scope: ['read'] };
    await api.declare('default', [{ ...kiosk, first_party: true }]);
    const [ida, ian] = ['ida@shop.example', 'ian@shop.example'];
    const [before, after] = [await addUser(api, ida, password), await addUser(api, ian, password)];
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: ida, password });
    const request = '/auth/authorize?response_type=token&client_id=kiosk&scope=read';
    expect((await browser.get(request)).location).to.contain('access_token=');
    const { location } = await browser.get(`${request}&prompt=login`);
    await browser.submit(location, { email: ian, password });
    const target = { resourceType: 'User', id: String(before) };
    const record = await trail.written(`event=user.signed_out&target=User/${target.id}`);
    expect(record).to.deep.include({ result: 'success', target });
    expect(record['actor']).to.deep.include({ user: { resourceType: 'User', id: String(after) } });
  });

  it('records that somebody was signed out by a registration with the same browser, also without any app', async () => {
    await api.declare('default', [{ kind: 'Box', id: 'default', registration: { enabled: true } }]);
    const id = await addUser(api, 'jan@shop.example', password);
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'jan@shop.example', password });
    const { text, location } = await browser.get('/auth/signup?prompt=login');
    expect(location, text).to.equal('');
    const form_token = hiddenFields(text)['form_token'] ?? '';
    const { status } = await browser.post('/auth/signup', { form_token, email: 'joy@shop.example', password });
    expect(status).to.equal(303);
    expect(await trail.written(`event=user.signed_out&target=User/${String(id)}`)).to.include({ result: 'success' });
  });

  it('records a registration with the group that it joins, and a session that its own token closes', async () => {
    await api.declare('default', [
      { kind: 'Box', id: 'default', registration: { enabled: true, default_group: 'members' } },
    ]);
    const email = 'gus@shop.example';
    const answer = await newBrowser(api).submit('/auth/signup', { email, password });
    expect(answer.status, answer.text).to.be.lessThan(400);
    const [joined, registered, group] = await trail.found('_count=3');
    expect([group?.['event'], registered?.['event'], joined?.['event']]).to.deep.equal([
      ...['group.created', 'user.signed_up', 'group.member_added'],
    ]);
    expect(joined).to.deep.include({ target: group?.['target'], member: registered?.['target'] });
    const token = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
    expect((await api.call('DELETE', '/Session', { token })).status).to.equal(200);
    expect(await trail.written('event=session.closed&client=admin&target=Client/admin')).to.include({
      result: 'success',
    });
  });

  it('records guesses that are not verified any more', async () => {
    const id = await addUser(api, 'hal@shop.example', password);
    const browser = newBrowser(api);
    let status = 200;
    for (let tries = 0; status !== 429 && tries < 100; tries += 1) {
      ({ status } = await browser.submit('/auth/signin', { email: 'hal@shop.example', password: 'wrong' }));
    }
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await api.requestToken('stranger', 'wrong-secret')).status === 429) break;
    }
    expect(await trail.written('event=user.throttled')).to.include({ result: 'denied' });
    expect(await trail.written('event=client.throttled')).to.include({ result: 'denied' });
    const failed = await trail.found(`event=user.sign_in_failed&target=User/${String(id)}&reason=wrong_password`);
    expect(failed.length, 'each with the ID of its request').to.be.at.least(2);
  });
});

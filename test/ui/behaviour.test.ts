import { expect } from 'chai';
import { parse } from 'yaml';
import { messages as pageMessages } from '../../api/pages/messages.ts';
import { messages } from '../../api/ui/messages/de.ts';
import { isObject } from '../../crds/path.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { sendForm } from '../oauth/requests.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn, signedInAgain, typePassword } from './admin.ts';

const secret = 'a secret of a client';

describe('an administrator in the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    await stage.api.declare('default', [
      { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
      { kind: 'Client', id: 'robot', grant_types: ['client_credentials'], secret },
      { kind: 'Group', id: 'declared', description: 'In Git' },
    ]);
  });

  const query = (text: string, ...parameters: string[]) => ownerQuery(stage.api, text, parameters);
  const newToken = (client: string) =>
    sendForm(`${stage.base}/auth/token`, {
      grant_type: 'client_credentials',
      client_id: client,
      client_secret: secret,
    });

  it('is still signed in after a reload, at the same record', async () => {
    const id = await addUser(stage.api, 'reloaded@shop.example', boss.password);
    const { page, close } = await signedInAgain(stage, { at: `#/users/${String(id)}` });
    await page.getByRole('heading', { level: 2, name: 'reloaded@shop.example' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 2, name: 'reloaded@shop.example' }).waitFor();
    expect(page.url()).to.equal(`${stage.base}/ui/#/users/${String(id)}`);
    const paint = await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
    process.stdout.write(`      first paint after ${paint.toFixed(0)} ms\n`);
    await close();
  });

  it('waits for a service that cannot answer, then goes on to the sign-in page without a click', async () => {
    const page = await stage.newPage();
    const busy = { status: 503, headers: { 'Retry-After': '1' } };
    await page.route('**/auth/authorize?*', (route) => route.fulfill(busy), { times: 1 });
    await page.goto(`${stage.base}/ui/`);
    await page.getByText(messages.en.unavailable(1)).waitFor();
    await page.getByLabel(pageMessages.en.password).waitFor();
    await page.context().close();
  });

  it('asks a service that names no time for it once for each click', async () => {
    const page = await stage.newPage();
    let requests = 0;
    await page.route('**/auth/authorize?*', (route) => {
      requests += 1;
      return route.fulfill({ status: 503, headers: { 'Retry-After': '0' } });
    });
    await page.goto(`${stage.base}/ui/`);
    await page.getByText(messages.en.unavailable(0)).waitFor();
    const again = page.waitForResponse('**/auth/authorize?*');
    await page.getByRole('button', { name: messages.en.tryAgain, exact: true }).click();
    await again;
    expect(requests).to.equal(2);
    await page.context().close();
  });

  it('comes to the UI from its address without a slash, and loads nothing of another origin', async () => {
    const page = await stage.newPage();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${stage.base}/ui`);
    await typePassword(page, 'en', boss);
    await page.getByRole('heading', { level: 2, name: 'Home' }).waitFor();
    expect(page.url()).to.match(/\/boxes\/default\/ui\/#\/$/);
    const { origin } = new URL(stage.base);
    expect(requests.filter((url) => new URL(url).origin !== origin)).to.deep.equal([]);
    await page.context().close();
  });

  it('signs out, which ends the session of the page, and has to sign in again', async () => {
    const { page, say, open, press } = await signedInAgain(stage);
    await page.getByRole('banner').getByText(say.signedInAs(boss.email)).waitFor();
    const asked = page.waitForRequest((request) => request.url().includes('/Group'));
    await open('groups');
    const headers = { Authorization: (await (await asked).headerValue('Authorization')) ?? '' };
    expect((await fetch(`${stage.base}/Group`, { headers })).status).to.equal(200);
    await press(say.signOut);
    await page.getByText('Do you want to sign out').waitFor();
    expect((await fetch(`${stage.base}/Group`, { headers })).status, 'the session of the page is closed').to.equal(401);
    await press('Sign out');
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.goto(`${stage.base}/ui/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('is told which right is missing, and the policy on the page gives it', async () => {
    const carl = { email: 'carl@shop.example', password: boss.password };
    await addUser(stage.api, carl.email, carl.password);
    const { page, say, rows, press, close } = await signedIn(stage, { person: carl, at: '#/groups' });
    await page.getByText(say.noRight('GET', '/Group')).waitFor();
    const text = await page.getByLabel(say.policy, { exact: true }).innerText();
    const manifest: unknown = parse(text);
    const spec = isObject(manifest) && isObject(manifest['spec']) ? manifest['spec'] : {};
    await stage.api.declare('default', [{ kind: 'AccessPolicy', id: 'of-carl', ...spec }]);
    await page.reload();
    await eventually('the groups are listed', async () => (await rows()).join().includes('declared'));
    await page.getByRole('link', { name: say.newGroup }).click();
    await page.getByLabel(say.name, { exact: true }).fill('carls');
    await press(say.save);
    await page.getByText(say.noRight('POST', '/Group')).waitFor();
    expect(await page.getByLabel(say.name, { exact: true }).inputValue()).to.equal('carls');
    await close();
  });

  it('cannot change what a custom resource declares, and sees where it is declared', async () => {
    const { page, say, open, choose, close } = await signedInAgain(stage);
    for (const [tab, id, command] of [
      ['groups', 'declared', 'kubectl get groups.boxgate.dev declared --namespace default -o yaml'],
      ['clients', 'reports', 'kubectl get clients.boxgate.dev reports --namespace default -o yaml'],
      ['policies', 'boss', 'kubectl get accesspolicies.boxgate.dev boss --namespace default -o yaml'],
    ] as const) {
      await open(tab);
      await choose(id);
      await page.getByText(command, { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: say.save }).count()).to.equal(0);
      expect(await page.getByRole('button', { name: say.delete }).count()).to.equal(0);
      expect(await page.getByRole('textbox').first().isEditable()).to.equal(false);
    }
    await close();
  });

  it('creates, changes and deletes a client and a policy as JSON, and undoes the deletion of the policy', async () => {
    const { page, say, open, fill, press, sees, close } = await signedInAgain(stage);
    const link = ['robot', 'nobody'].map((id) => ({ resourceType: 'Client', id }));
    const policy = { id: 'typed', engine: 'allow', link };
    await open('clients');
    await page.getByRole('link', { name: say.newClient }).click();
    await press(say.views.json);
    await fill('JSON', JSON.stringify({ id: 'typed', grant_types: ['client_credentials'], secret }));
    await press(say.save);
    await sees(say.saved('typed'));
    await page.getByRole('heading', { level: 2, name: 'typed' }).waitFor();
    await press(say.delete);
    await sees(say.deleted('typed'));
    expect(await page.getByRole('button', { name: say.undo }).count()).to.equal(0);
    await open('policies');
    await page.getByRole('link', { name: say.newPolicy }).click();
    await press(say.views.json);
    await fill('JSON', '{"id": "typed", "engine": "alow"}');
    await press(say.save);
    await page.getByRole('alert').getByText('engine').waitFor();
    await fill('JSON', JSON.stringify(policy));
    await press(say.save);
    await sees(`${say.saved('typed')}. not there: Client/nobody`);
    await page.getByRole('heading', { level: 2, name: 'typed' }).waitFor();
    await press(say.delete);
    await press(say.undo);
    await sees(say.restored('typed'));
    const [stored] = await query(`SELECT body FROM boxgate.resource WHERE kind = 'AccessPolicy' AND id = $1`, 'typed');
    expect(stored?.['body']).to.deep.include({ engine: 'allow', link });
    await close();
  });

  it('undoes the deletion of a group without members', async () => {
    const { page, say, open, fill, press, sees, close } = await signedInAgain(stage);
    await open('groups');
    await page.getByRole('link', { name: say.newGroup }).click();
    await fill(say.name, 'short-lived');
    await fill(say.description, 'Not for long');
    await press(say.save);
    await page.getByRole('heading', { level: 2, name: 'short-lived' }).waitFor();
    await press(say.delete);
    await press(say.undo);
    await sees(say.restored('short-lived'));
    const [stored] = await query('SELECT description FROM boxgate."group" WHERE name = $1', 'short-lived');
    expect(stored).to.deep.equal({ description: 'Not for long' });
    await close();
  });

  it('is offered to undo a deletion for ten seconds', async () => {
    const { page, say, open, fill, press, close } = await signedIn(stage);
    await open('groups');
    await page.getByRole('link', { name: say.newGroup }).click();
    await fill(say.name, 'not restored');
    await press(say.save);
    await page.getByRole('heading', { level: 2, name: 'not restored' }).waitFor();
    await page.clock.install();
    await press(say.delete);
    const undo = page.getByRole('button', { name: say.undo, exact: true });
    await undo.waitFor();
    await page.clock.runFor(9_000);
    expect(await undo.count(), 'after nine seconds').to.equal(1);
    await page.clock.runFor(2_000);
    await eventually('it is over', async () => (await undo.count()) === 0);
    await close();
  });

  it('sees sessions with subject, address and start, and ends one, and all of a client', async () => {
    for (const client of ['robot', 'robot', 'robot', 'reports']) await newToken(client);
    const { page, say, fill, choose, press, sees, rows, close } = await signedInAgain(stage, { at: '#/sessions' });
    await fill(say.filter, 'robot');
    await eventually('those of the client are left', async () => (await rows()).length === 3);
    expect((await rows())[0]).to.match(/^Client robot\s+robot\s+client_credentials\s+127\.0\.0\.1\s+(?:now|\d+ min)/s);
    await choose('robot');
    await press(say.endSession);
    await sees(say.sessionsEnded(1));
    await eventually('one is gone', async () => (await rows()).length === 2);
    await choose('robot');
    await press(say.endSessionsOf('robot'));
    await sees(say.sessionsEnded(2));
    await eventually('all are gone', async () => (await rows()).length === 0);
    await fill(say.filter, 'reports');
    await eventually('those of the other stay', async () => (await rows()).length === 1);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await close();
  });

  it('asks "may X do Y?", and sees the verdict of every candidate', async () => {
    const link = [{ resourceType: 'Client', id: 'reports' }];
    await stage.api.declare('default', [
      { kind: 'AccessPolicy', id: 'q-get', engine: 'cel', expression: 'request_method == "get"', link },
      { kind: 'AccessPolicy', id: 'q-put', engine: 'matcho', matcho: { 'request-method': 'put' }, link },
    ]);
    const { page, say, fill, press, sees, close } = await signedInAgain(stage, { at: '#/policies' });
    await fill(say.clientId, 'reports');
    await fill(say.path, '/orders');
    await press(say.ask);
    await sees(say.granted('q-get'));
    const cells = async () =>
      (await page.getByRole('table').getByRole('row').allInnerTexts()).map((row) => row.split(/\s*\t\s*/));
    expect((await cells()).slice(1)).to.deep.equal([
      ['q-get', 'cel', say.grants],
      ['q-put', 'matcho', say.doesNotGrant],
    ]);
    await page.getByLabel(say.method).selectOption('delete');
    await press(say.ask);
    await sees(say.denied);
    await fill(say.clientId, 'not-there');
    await press(say.ask);
    await page.getByRole('alert').getByText('must be a client of this box').waitFor();
    await close();
  });

  it('does not redeem a code that it did not ask for', async () => {
    const { page, say, close } = await signedInAgain(stage);
    await page.locator('tbody tr').first().waitFor();
    const redeemed: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/token')) redeemed.push(request.url());
    });
    await page.route(/\/auth\/authorize\?/, (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('state', 'of-another-page');
      return route.continue({ url: url.href });
    });
    await page.reload();
    await page.getByText(say.signInRefused('invalid_response')).waitFor();
    expect(redeemed).to.deep.equal([]);
    await close();
  });

  it('finds events in the audit trail', async () => {
    const { page, say, fill, choose, rows, close } = await signedInAgain(stage, { at: '#/audit' });
    await fill(say.filter, 'user.signed_in');
    await eventually('only those are left', async () => {
      const shown = await rows();
      return shown.length > 0 && shown.every((row) => row.includes('user.signed_in'));
    });
    await choose('user.signed_in');
    await page.getByRole('definition').getByText('success', { exact: true }).waitFor();
    await close();
  });

  describe('never loses typed text', () => {
    async function typing(name: string) {
      const email = `${name}@shop.example`;
      const id = await addUser(stage.api, email, boss.password);
      const admin = await signedInAgain(stage, { at: `#/users/${String(id)}` });
      await admin.page.getByRole('heading', { level: 2, name: email }).waitFor();
      await admin.fill(admin.say.data, '{"typed": true}');
      const data = () => admin.page.getByLabel(admin.say.data, { exact: true }).inputValue();
      return { ...admin, email, id, data };
    }

    it('while another record and another tab are shown', async () => {
      const { page, say, open, choose, email, data, close } = await typing('elsewhere');
      await open('groups');
      await open('users');
      for (const other of [boss.email, email]) {
        await choose(other);
        await page.getByRole('heading', { level: 2, name: other }).waitFor();
      }
      expect(await data()).to.equal('{"typed": true}');
      expect(say.discard).to.equal('Discard changes');
      await close();
    });

    it('when the page is left: the browser asks first', async () => {
      const { page, email, close } = await typing('leaving');
      const asked: string[] = [];
      page.on('dialog', (dialog) => {
        asked.push(dialog.type());
        void dialog.accept();
      });
      await page.reload();
      await page.getByRole('heading', { level: 2, name: email }).waitFor();
      expect(asked).to.deep.equal(['beforeunload']);
      await close();
    });

    it('offline: it says so, and Save works when the connection is back', async () => {
      const { page, say, press, sees, email, data, close } = await typing('offline');
      await page.context().setOffline(true);
      await press(say.save);
      await sees(say.offline);
      await page.context().setOffline(false);
      expect(await data()).to.equal('{"typed": true}');
      await press(say.save);
      await sees(say.saved(email));
      await close();
    });

    it('while the service cannot answer', async () => {
      const { page, say, press, sees, email, data, close } = await typing('unavailable');
      await page.route('**/users/*', (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '2' } }));
      await press(say.save);
      await sees(say.unavailable(2));
      expect(await data()).to.equal('{"typed": true}');
      await page.unrouteAll();
      await press(say.save);
      await sees(say.saved(email));
      await close();
    });

    it('when the token is over: a new one comes without a word', async () => {
      const { say, press, sees, email, close } = await typing('expired');
      await endSessions();
      await press(say.save);
      await sees(say.saved(email));
      await close();
    });

    it('when the user is signed out: it says so, and goes on after signing in in another tab', async () => {
      const { page, say, press, sees, email, data, close } = await typing('signed-out');
      await endSessions();
      await page.context().clearCookies();
      await press(say.save);
      await sees(say.signedOut);
      expect(await data()).to.equal('{"typed": true}');
      const opened = page.waitForEvent('popup');
      await page.getByRole('link', { name: say.signIn }).click();
      const other = await opened;
      await typePassword(other, 'en', boss);
      await other.getByRole('navigation').waitFor();
      await other.close();
      await press(say.goOn);
      await eventually(
        'the bar is gone',
        async () => (await page.getByText(say.signedOut, { exact: true }).count()) === 0,
      );
      await press(say.save);
      await sees(say.saved(email));
      await close();
    });

    /** Ends the sessions of the UI on the server, as their expiry would. */
    async function endSessions(): Promise<void> {
      await query(
        `UPDATE boxgate.session SET ended_at = now(), ended_as = 'closed' WHERE client = $1 AND ended_at IS NULL`,
        'boxgate.ui',
      );
    }
  });
});

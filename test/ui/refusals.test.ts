import { expect } from 'chai';
import { LANGUAGES } from '../../api/pages/page.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn } from './admin.ts';
import type { Admin } from './admin.ts';

describe('what the admin UI says when something is refused, or gone', () => {
  let stage: Stage;
  let bossId: number;
  onStage((set) => (stage = set));
  before(async () => {
    bossId = await addBoss(stage);
    await stage.api.declare('default', [
      { kind: 'Group', id: 'declared' },
      {
        kind: 'AccessPolicy',
        id: 'admins',
        engine: 'matcho',
        matcho: { uri: '/users' },
        link: [{ resourceType: 'Group', id: 'declared' }],
      },
    ]);
  });

  const alerts = ({ page }: Admin): Promise<string[]> => page.getByRole('alert').allInnerTexts();
  const says = (admin: Admin, ...texts: readonly string[]): Promise<void> =>
    eventually(`it says ${texts.join(' and ')}`, async () => {
      const shown = await alerts(admin);
      return shown.length === texts.length && shown.every((text, nth) => text.trim() === texts[nth]);
    });

  for (const language of LANGUAGES) {
    it(`is in the language of the person: ${language}`, async () => {
      const admin = await signedIn(stage, { language, at: '#/users/+' });
      const { page, say, fill, press, close } = admin;
      await page.getByLabel(say.email, { exact: true }).waitFor();
      await fill(say.email, boss.email);
      await fill(say.password, 'short');
      await press(say.save);
      await says(admin, say.refusals.taken, say.tooShort(8));
      await fill(say.password, 'password123');
      await press(say.save);
      await says(admin, say.refusals.taken, say.refusals['most-used']);
      await fill(say.password, 'a long enough passphrase');
      await press(say.save);
      await says(admin, say.refusals.taken);
      await fill(say.email, 'nobody');
      await press(say.save);
      await says(admin, say.refusals['no-email']);
      await page.goto(`${stage.base}/ui/#/groups/+`);
      await page.getByLabel(say.name, { exact: true }).waitFor();
      await fill(say.name, 'declared');
      await press(say.save);
      await says(admin, say.refusals['group-taken']);
      await page.goto(`${stage.base}/ui/#/policies`);
      await page.getByLabel(say.userId, { exact: true }).waitFor();
      await fill(say.userId, 'nobody@shop.example');
      await press(say.ask);
      await says(admin, say.noSuchUser('nobody@shop.example'));
      await close();
    });

    it(`names a misspelt field and value of JSON in the language of the person: ${language}`, async () => {
      const admin = await signedIn(stage, { language, at: '#/clients/+' });
      const { say, fill, press, close } = admin;
      await press(say.views.json);
      await fill('JSON', '{"id": "misspelt", "grantTypes": [], "grant_types": ["client_credential"], "zzz": 1}');
      await press(say.save);
      await eventually('it says what is wrong', async () => (await alerts(admin)).length > 0);
      const lines = (await alerts(admin)).join('\n').split(/\n+/).filter(Boolean);
      expect(lines).to.include.members([
        say.unknownField('zzz', undefined),
        say.unknownValue('grant_types[0]', 'client_credential', 'client_credentials'),
      ]);
      expect(lines.some((line) => line.startsWith(say.unknownField('grantTypes', undefined).slice(0, -1)))).to.equal(
        true,
      );
      if (language !== 'en') expect(lines.join()).not.to.match(/not a known|Did you mean/);
      await close();
    });

    it(`has one sentence about JSON that is not valid, which is not sent: ${language}`, async () => {
      const admin = await signedIn(stage, { language, at: '#/policies/+' });
      const { page, say, fill, press, close } = admin;
      await press(say.views.json);
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(request.url());
      });
      await fill('JSON', '{"id": }');
      await press(say.save);
      await says(admin, say.notJson({ line: 1, column: 8, found: '}' }));
      await fill('JSON', '');
      await press(say.save);
      await says(admin, say.notJson({ line: 1, column: 1, found: '' }));
      expect(sent).to.deep.equal([]);
      await close();
    });
  }

  it('answers "may X do Y?" about an email, and says what the closest policy wants and who else may', async () => {
    const email = 'eve@shop.example';
    const eve = await addUser(stage.api, email, boss.password);
    await stage.api.declare('default', [
      {
        kind: 'AccessPolicy',
        id: 'of-eve',
        engine: 'matcho',
        matcho: { 'request-method': 'put' },
        link: [{ resourceType: 'User', id: String(eve) }],
      },
    ]);
    const { page, say, fill, press, sees, close } = await signedIn(stage, { at: '#/policies' });
    await fill(say.userId, email);
    await press(say.ask);
    await sees(say.denied);
    await sees(`${say.doesNotGrant} ${say.lacks('request-method', '"put"')}`);
    await page.getByText(say.wouldGrant('Group/declared')).waitFor();
    await page.getByText(say.wouldGrant(`User/${String(bossId)}`)).waitFor();
    await close();
  });

  it('finds sessions and events by the email of a user, and names the user of a session', async () => {
    const admin = await signedIn(stage, { at: '#/sessions' });
    const { page, say, fill, open, choose, rows, close } = admin;
    await fill(say.filter, boss.email);
    await eventually('the sessions of the user are found', async () => (await rows()).length > 0);
    await choose('boxgate.ui');
    await page.getByText(`${boss.email} (${String(bossId)})`, { exact: true }).waitFor();
    await open('audit');
    await fill(say.filter, boss.email);
    await eventually('the events of the user are found', async () =>
      (await rows()).some((row) => row.includes('user.signed_in')),
    );
    await close();
  });

  it('names the folder of the manifest of a declared record under boxgate dev, and no kubectl command', async () => {
    const admin = await signedIn(stage, { at: '#/groups' });
    const { page, say, choose, sees, close } = admin;
    await choose('declared');
    await page.getByText('kubectl get groups.boxgate.dev declared').waitFor();
    await page.route('**/ui/', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('data-folder=""', 'data-folder="deploy/shop"');
      await route.fulfill({ response, body });
    });
    await page.reload();
    await sees(say.managedInFolder('Group default/declared', 'deploy/shop'));
    expect(await page.getByText('kubectl').count()).to.equal(0);
    await close();
  });

  it('names the users of sessions by their emails, which the filter then finds', async () => {
    const { page, say, fill, choose, rows, close } = await signedIn(stage, { at: '#/sessions' });
    const title = `${boss.email} · boxgate.ui`;
    await eventually('the list has the email', async () => (await rows()).some((row) => row.includes(boss.email)));
    expect((await rows()).join()).not.to.include(say.userSubject(String(bossId)));
    await fill(say.filter, 'boss@ boxgate.ui');
    await eventually('the filter finds it', async () => (await rows()).length > 0);
    await choose(boss.email);
    await page.getByRole('heading', { level: 2, name: title }).waitFor();
    await close();
  });

  it('names the users of sessions by their IDs where the viewer may not read users, and asks only once', async () => {
    const eyes = { email: 'eyes@shop.example', password: boss.password };
    const id = String(await addUser(stage.api, eyes.email, eyes.password));
    const link = [{ resourceType: 'User', id }];
    await stage.api.declare('default', [
      { kind: 'AccessPolicy', id: 'eyes', engine: 'matcho', matcho: { uri: '#^/Session' }, link },
    ]);
    const { page, say, rows, open, close } = await signedIn(stage, { person: eyes, at: '#/account' });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/users/')) asked.push(request.url());
    });
    const answered = page.waitForResponse((response) => response.url().includes('/users/'));
    await open('sessions');
    const title = say.userSubject(id);
    await eventually('the list has the ID', async () => (await rows()).some((row) => row.includes(title)));
    expect((await answered).status()).to.equal(403);
    await page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))');
    expect(asked).to.have.length(1);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await close();
  });

  it('keeps the text of a record that is gone, and creates it again or removes it from the list', async () => {
    const { page, say, fill, choose, press, sees, rows, close } = await signedIn(stage, { at: '#/groups' });
    const create = async (name: string): Promise<void> => {
      await page.getByRole('link', { name: say.newGroup }).click();
      // Until then the fields are those of the group that was created before.
      await page.getByRole('heading', { level: 2, name: say.newGroup }).waitFor();
      await fill(say.name, name);
      await press(say.save);
      await page.getByRole('heading', { level: 2, name }).waitFor();
    };
    for (const name of ['first', 'second']) await create(name);
    await ownerQuery(stage.api, `DELETE FROM boxgate."group" WHERE name IN ('first', 'second')`, []);
    await choose('first');
    await sees(say.gone);
    await press(say.takeFromList);
    await eventually('it is not listed', async () => !(await rows()).join().includes('first'));
    await create('third');
    await ownerQuery(stage.api, `DELETE FROM boxgate."group" WHERE name = 'third'`, []);
    await fill(say.description, 'typed');
    await press(say.save);
    await sees(say.gone);
    await press(say.createAgain);
    const stored = () => ownerQuery(stage.api, `SELECT description FROM boxgate."group" WHERE name = 'third'`, []);
    // The page may still tell that the first one was saved.
    await eventually('it is stored again', async () => (await stored()).length > 0);
    await sees(say.saved('third'));
    expect(await stored()).to.deep.equal([{ description: 'typed' }]);
    expect((await rows()).filter((row) => row.includes('third'))).to.have.length(1);
    await close();
  });
});

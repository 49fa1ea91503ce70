import { expect } from 'chai';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { sendForm } from '../oauth/requests.ts';
import { addBoss, boss, focused, signedIn } from './admin.ts';

const secret = 'a secret of a client';

describe('a list of the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    await stage.api.declare('default', [
      { kind: 'Client', id: 'robot', grant_types: ['client_credentials'], secret },
      { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
    ]);
    await ownerQuery(
      stage.api,
      `INSERT INTO boxgate."user" (box, id, email, email_key, password, pepper)
       SELECT 'default', 100000 + n, 'person-' || n || '@many.example', 'person-' || n || '@many.example', 'x', 'x'
         FROM generate_series(1, 150) AS n`,
      [],
    );
  });

  const newToken = async (client: string): Promise<void> => {
    const fields = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
    expect((await sendForm(`${stage.base}/auth/token`, fields)).status).to.equal(200);
  };

  it('drops a deleted record that only the search of the filter had found', async () => {
    const { page, say, fill, choose, press, sees, rows, close } = await signedIn(stage);
    await page.locator('tbody tr').first().waitFor();
    expect((await rows()).join()).not.to.include('person-149@');
    await fill(say.filter, 'person-149@many.example');
    await eventually('it is found', async () => (await rows()).length === 1);
    await choose('person-149@many.example');
    await page.getByRole('heading', { level: 2, name: 'person-149@many.example' }).waitFor();
    await press(say.delete);
    await sees(say.deleted('person-149@many.example'));
    expect(await rows()).to.deep.equal([]);
    await close();
  });

  it('drops an ended session that only the search of the filter had found', async () => {
    await newToken('robot');
    for (let nth = 0; nth < 101; nth += 1) await newToken('reports');
    const { page, say, fill, choose, press, sees, rows, close } = await signedIn(stage, { at: '#/sessions' });
    await page.locator('tbody tr').first().waitFor();
    await fill(say.filter, 'robot');
    await eventually('it is found', async () => (await rows()).join().includes('robot'));
    await choose('robot');
    await press(say.endSession);
    await sees(say.sessionsEnded(1));
    expect(await rows()).to.deep.equal([]);
    await close();
  });

  it('names the status of an inactive user in the language of the viewer', async () => {
    const email = 'asleep@shop.example';
    const id = await addUser(stage.api, email, boss.password);
    const at = `#/users/${String(id)}`;
    const { page, say, press, sees, rows, close } = await signedIn(stage, { language: 'de', at });
    await page.getByRole('heading', { level: 2, name: email }).waitFor();
    await page.getByLabel(say.status, { exact: true }).selectOption('inactive');
    await press(say.save);
    await sees(say.saved(email));
    const row = (await rows()).find((text) => text.includes(email));
    expect(row?.split(/\s+/).slice(0, 2)).to.deep.equal([email, 'inaktiv']);
    await close();
  });

  it('of groups in the form of a user has a filter that does not submit the form with Enter', async () => {
    await ownerQuery(
      stage.api,
      `INSERT INTO boxgate."group" (box, id, name, version)
       SELECT 'default', 1000 + n, 'group-' || n, (SELECT config_version FROM boxgate.box WHERE box = 'default')
         FROM generate_series(1, 30) AS n`,
      [],
    );
    const { page, say, fill, press, sees, close } = await signedIn(stage, { at: '#/users/+' });
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    await fill(say.email, 'with-group@shop.example');
    await fill(say.password, boss.password);
    await page.getByLabel(say.filterGroups, { exact: true }).fill('group-29');
    await page.getByLabel(say.filterGroups, { exact: true }).press('Enter');
    await page.getByRole('group', { name: say.groupIds }).getByLabel('group-29').check();
    expect(sent).to.deep.equal([]);
    await press(say.save);
    await sees(say.saved('with-group@shop.example'));
    await close();
  });

  describe('keeps the focus of the keyboard', () => {
    it('at the heading of the record that was created, and of the list after its deletion', async () => {
      const { page, say, fill, close } = await signedIn(stage, { at: '#/groups/+' });
      await page.getByRole('heading', { level: 2, name: say.newGroup }).waitFor();
      await fill(say.name, 'focused');
      await page.getByLabel(say.name, { exact: true }).press('Enter');
      await page.getByRole('heading', { level: 2, name: 'focused' }).waitFor();
      await page.getByRole('button', { name: say.delete }).waitFor();
      expect(await focused(page)).to.equal('H2 focused');
      await page.getByRole('button', { name: say.delete }).press('Enter');
      await page.getByText(say.deleted('focused')).waitFor();
      expect(await focused(page)).to.equal(`H2 ${say.tabs.groups}`);
      await close();
    });

    it('at the heading of the list after a session was ended', async () => {
      await newToken('robot');
      const { page, say, fill, choose, sees, rows, close } = await signedIn(stage, { at: '#/sessions' });
      await fill(say.filter, 'robot');
      await eventually('it is found', async () => (await rows()).join().includes('robot'));
      await choose('robot');
      await page.getByRole('button', { name: say.endSession }).press('Enter');
      await sees(say.sessionsEnded(1));
      expect(await focused(page)).to.equal(`H2 ${say.tabs.sessions}`);
      await close();
    });

    it('at Save after a record was saved', async () => {
      const email = 'saved@shop.example';
      const id = await addUser(stage.api, email, boss.password);
      const { page, say, fill, sees, close } = await signedIn(stage, { at: `#/users/${String(id)}` });
      await fill(say.data, '{}');
      await page.getByRole('button', { name: say.save }).press('Enter');
      await sees(say.saved(email));
      expect(await focused(page)).to.equal(`BUTTON ${say.save}`);
      await close();
    });

    it('in the list while its records are selected', async () => {
      const { page, say, close } = await signedIn(stage, { at: '#/users' });
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: say.delete }).waitFor();
      expect(await page.evaluate('document.activeElement.getAttribute("role")')).to.equal('grid');
      await close();
    });
  });
});

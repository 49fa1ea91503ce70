import { expect } from 'chai';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn } from './admin.ts';
import { holdRequests } from './hold-requests.ts';

describe('text in a form of the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => addBoss(stage));

  /** Opens a user in the form. */
  async function opened(name: string) {
    const email = `${name}@shop.example`;
    const id = await addUser(stage.api, email, boss.password, 'default', '{"a": 1}');
    const admin = await signedIn(stage, { at: `#/users/${String(id)}` });
    await admin.page.getByRole('heading', { level: 2, name: email }).waitFor();
    const field = (label: string) => admin.page.getByLabel(label, { exact: true }).inputValue();
    return { ...admin, email, id, field };
  }

  const storedData = async (id: number): Promise<unknown> => {
    const [row] = await ownerQuery(stage.api, 'SELECT data FROM boxgate."user" WHERE id = $1', [String(id)]);
    return row?.['data'];
  };

  describe('that was left for another record', () => {
    it('does not undo what somebody else has saved meanwhile: the conflict is shown, and both choices work', async () => {
      const { page, say, email, id, field, open, choose, fill, press, sees, close } = await opened('left');
      const other = await signedIn(stage, { at: `#/users/${String(id)}` });
      await other.page.getByRole('heading', { level: 2, name: email }).waitFor();
      for (const [theirs, mine, choice] of [
        ['{"a": 2}', '{"b": 2}', say.takeStored],
        ['{"a": 3}', '{"b": 3}', say.keepMine],
      ] as const) {
        await fill(say.data, mine);
        await open('groups');
        await other.fill(say.data, theirs);
        await other.press(say.save);
        await eventually('it is stored', async () => (await storedData(id)) === theirs);
        await open('users');
        await choose(email);
        await sees(say.conflict);
        expect(await page.getByRole('definition').allInnerTexts()).to.deep.equal([`${theirs}\n`, `${mine}\n`]);
        expect(await field(say.data)).to.equal(mine);
        await press(choice);
        expect(await field(say.data)).to.equal(choice === say.keepMine ? mine : theirs);
      }
      await press(say.save);
      await eventually('the own text is stored', async () => (await storedData(id)) === '{"b": 3}');
      await other.close();
      await close();
    });

    it('is refused by the service (412) when it is saved over the conflict', async () => {
      const { page, say, email, id, open, choose, fill, press, sees, close } = await opened('over');
      await fill(say.data, '{"b": 2}');
      await open('groups');
      const other = await signedIn(stage, { at: `#/users/${String(id)}` });
      await other.fill(other.say.data, '{"a": 2}');
      await other.press(other.say.save);
      await other.sees(other.say.saved(email));
      await other.close();
      await open('users');
      await choose(email);
      await sees(say.conflict);
      const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
      await press(say.save);
      expect((await answered).status()).to.equal(412);
      expect(await storedData(id)).to.equal('{"a": 2}');
      await close();
    });

    it('is not in conflict with a change that the form does not show', async () => {
      const { page, say, email, id, field, open, choose, fill, press, sees, close } = await opened('unseen');
      await fill(say.data, '{"b": 2}');
      await open('groups');
      await ownerQuery(stage.api, `UPDATE boxgate."user" SET password = 'y' WHERE id = $1`, [String(id)]);
      await open('users');
      await choose(email);
      await page.getByRole('heading', { level: 2, name: email }).waitFor();
      expect(await field(say.data)).to.equal('{"b": 2}');
      expect(await page.getByRole('alert').count()).to.equal(0);
      await press(say.save);
      await sees(say.saved(email));
      expect(await storedData(id)).to.equal('{"b": 2}');
      await close();
    });

    it('is not in conflict if nothing is left of it', async () => {
      const { page, say, email, id, field, open, choose, fill, close } = await opened('undone');
      await fill(say.data, '{"b": 2}');
      await fill(say.data, '{"a": 1}');
      await open('groups');
      await ownerQuery(stage.api, `UPDATE boxgate."user" SET data = '{"a": 2}' WHERE id = $1`, [String(id)]);
      await open('users');
      await choose(email);
      await page.getByRole('heading', { level: 2, name: email }).waitFor();
      await eventually('it shows what is stored', async () => (await field(say.data)) === '{"a": 2}');
      expect(await page.getByRole('alert').count()).to.equal(0);
      await close();
    });

    it('is still there when somebody else has deleted the record', async () => {
      const { say, email, id, field, open, choose, fill, press, sees, close } = await opened('gone');
      await fill(say.data, '{"b": 2}');
      await choose(boss.email);
      await ownerQuery(stage.api, 'DELETE FROM boxgate."user" WHERE id = $1', [String(id)]);
      await choose(email);
      await sees(say.gone);
      await sees(say.textStays);
      expect(await field(say.data)).to.equal('{"b": 2}');
      await press(say.takeFromList);
      await open('groups');
      await close();
    });
  });

  describe('that is typed while Save is under way', () => {
    it('stays, and can be saved without sending again what was saved', async () => {
      const { page, say, email, id, field, fill, press, sees, close } = await opened('typing');
      const held = await holdRequests(page, 'PUT');
      await fill(say.password, 'another long passphrase');
      await fill(say.data, '{"a": 2}');
      await press(say.save);
      await eventually('it is sent', () => held.bodies.length === 1);
      await fill(say.data, '{"a": 3}');
      held.release();
      await sees(say.saved(email));
      expect(await field(say.data)).to.equal('{"a": 3}');
      expect(await field(say.password)).to.equal('');
      await press(say.save);
      await eventually('the later text is stored', async () => (await storedData(id)) === '{"a": 3}');
      expect(held.bodies[1]).to.equal('{"data":"{\\"a\\": 3}"}');
      await close();
    });

    it('comes along to the record that was created', async () => {
      const { page, say, fill, press, sees, open, close } = await signedIn(stage, { at: '#/groups/+' });
      await page.getByRole('heading', { level: 2, name: say.newGroup }).waitFor();
      const held = await holdRequests(page, 'POST');
      await fill(say.name, 'created');
      await press(say.save);
      await eventually('it is sent', () => held.bodies.length === 1);
      await fill(say.description, 'typed later');
      held.release();
      await page.getByRole('heading', { level: 2, name: 'created' }).waitFor();
      expect(await page.getByLabel(say.description, { exact: true }).inputValue()).to.equal('typed later');
      expect(await page.getByRole('alert').count()).to.equal(0);
      await press(say.save);
      const stored = () => ownerQuery(stage.api, `SELECT description FROM boxgate."group" WHERE name = 'created'`, []);
      await eventually('it is stored', async () => (await stored())[0]?.['description'] === 'typed later');
      await open('users');
      await open('groups');
      await page.getByRole('link', { name: say.newGroup }).click();
      await page.getByRole('heading', { level: 2, name: say.newGroup }).waitFor();
      expect(await page.getByLabel(say.description, { exact: true }).inputValue()).to.equal('');
      await sees(say.newGroup);
      await close();
    });
  });

  describe('stays when the answer does not come from the API', () => {
    for (const status of [200, 400, 403, 404]) {
      it(`a page of a proxy with status ${String(status)}`, async () => {
        const { page, say, email, id, field, fill, press, sees, close } = await opened(`proxy-${String(status)}`);
        await fill(say.data, '{"a": 2}');
        const page404 = { status, contentType: 'text/html', body: '<h1>Not from here</h1>' };
        await page.route('**/users/*', (route) =>
          route.request().method() === 'PUT' ? route.fulfill(page404) : route.continue(),
        );
        await press(say.save);
        const alert = page.getByRole('alert').getByText(say.unreadable(status), { exact: true });
        await alert.or(page.getByText(say.saved(email), { exact: true })).waitFor({ timeout: 20_000 });
        expect(await alert.count()).to.equal(1);
        expect(await page.getByRole('alert').count()).to.equal(1);
        expect(await field(say.data)).to.equal('{"a": 2}');
        await page.unrouteAll();
        await press(say.save);
        await sees(say.saved(email));
        expect(await storedData(id)).to.equal('{"a": 2}');
        await close();
      });
    }

    it('a list says so instead of being empty', async () => {
      const { page, say, open, close } = await signedIn(stage);
      await page.route('**/Group?*', (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>' }));
      await open('groups');
      await page.getByText(say.unreadable(200), { exact: true }).waitFor({ timeout: 20_000 });
      await close();
    });
  });
});

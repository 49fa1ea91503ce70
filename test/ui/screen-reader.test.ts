import { expect } from 'chai';
import { TABS } from '../../api/ui/messages/messages.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { addBoss, boss, signedIn } from './admin.ts';
import type { Admin } from './admin.ts';

describe('a screen reader in the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    await stage.api.declare('default', [{ kind: 'Group', id: 'staff' }]);
  });

  it('reads the tab or the record, and the box, in the title of the page', async () => {
    const { page, say, open, choose, close } = await signedIn(stage, { at: '#/groups' });
    const isTitled = (heading: string): Promise<void> =>
      eventually(`${heading} is in the title`, async () => (await page.title()) === `${heading} · The Shop`);
    await isTitled(say.tabs.groups);
    await choose('staff');
    await isTitled('staff');
    await page.getByRole('link', { name: say.newGroup }).click();
    await isTitled(say.newGroup);
    for (const tab of TABS) {
      await open(tab);
      await isTitled(say.tabs[tab]);
    }
    await open('audit');
    await choose('user.signed_in');
    await isTitled('user.signed_in');
    await page.goBack();
    await isTitled(say.tabs.audit);
    await close();
  });

  it('knows the place of the notices before there is one, so that it reads the first one', async () => {
    const { page, say, close } = await signedIn(stage, { at: '#/account' });
    await page.getByText(say.noGrants).waitFor();
    expect(await page.getByRole('status').allInnerTexts()).to.deep.equal(['']);
    await close();
  });

  describe('finds a fault of JSON at its field', () => {
    const tooShort = '{"id": ';
    const wrong = '{"id": }';

    /** Returns the number of alerts, and the text that describes the field. */
    async function told({ page }: Admin, label: string): Promise<readonly [alerts: number, text: string]> {
      const id = await page.getByLabel(label, { exact: true }).getAttribute('aria-describedby');
      const text = id === null ? '' : await page.locator(`[id="${id}"]`).innerText();
      return [await page.getByRole('alert').count(), text];
    }

    it('and is interrupted by it after Save only', async () => {
      const admin = await signedIn(stage, { at: '#/policies/+' });
      const { say, fill, press, close } = admin;
      await press(say.views.json);
      const isTold = (alerts: number, text: string): Promise<void> =>
        eventually(`${String(alerts)} alerts, and "${text}"`, async () => {
          const [count, shown] = await told(admin, 'JSON');
          return count === alerts && shown === text;
        });
      await fill('JSON', wrong);
      await isTold(0, say.notJson({ line: 1, column: 8, found: '}' }));
      await press(say.save);
      await isTold(1, say.notJson({ line: 1, column: 8, found: '}' }));
      await fill('JSON', tooShort);
      await isTold(0, say.notJson({ line: 1, column: 8, found: '' }));
      await fill('JSON', '{"id": "typed"}');
      await isTold(0, '');
      await close();
    });

    it('and finds there what the box has refused while the text is changed', async () => {
      const id = await addUser(stage.api, 'long@shop.example', boss.password);
      const admin = await signedIn(stage, { at: `#/users/${String(id)}` });
      const { page, say, fill, press, close } = admin;
      await page.getByRole('heading', { level: 2, name: 'long@shop.example' }).waitFor();
      await fill(say.data, `"${'a'.repeat(70_000)}"`);
      await press(say.save);
      await page.getByRole('alert').waitFor();
      const [, refused] = await told(admin, say.data);
      expect(refused).not.to.equal('');
      await fill(say.data, `"${'b'.repeat(70_000)}"`);
      expect(await told(admin, say.data)).to.deep.equal([0, refused]);
      await close();
    });

    it('of the question to the policies, which is not asked', async () => {
      const admin = await signedIn(stage, { at: '#/policies' });
      const { page, say, fill, press, close } = admin;
      await fill(say.body, wrong);
      const text = say.notJson({ line: 1, column: 8, found: '}' });
      await page.getByText(text, { exact: true }).waitFor();
      expect(await told(admin, say.body)).to.deep.equal([0, text]);
      await press(say.ask);
      await page.getByRole('alert').getByText(text, { exact: true }).waitFor();
      expect(await told(admin, say.body)).to.deep.equal([1, text]);
      await close();
    });
  });
});

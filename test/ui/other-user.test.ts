import { expect } from 'chai';
import { ann, onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn, typePassword } from './admin.ts';
import type { Person } from './admin.ts';

describe('a page of the admin UI whose browser another user has signed in with', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    const [row] = await ownerQuery(stage.api, 'SELECT id FROM boxgate."user" WHERE email = $1', [ann.email]);
    // She may do everything, too: a request in her name would succeed.
    const link = [{ resourceType: 'User', id: String(row?.['id']) }];
    await stage.api.declare('default', [{ kind: 'AccessPolicy', id: 'ann', engine: 'allow', link }]);
  });

  /** Types into a form, then signs in as somebody else in another tab, and lets the token expire. */
  async function typedBefore(name: string) {
    const email = `${name}@shop.example`;
    const id = String(await addUser(stage.api, email, boss.password, 'default', '{"a": 1}'));
    const admin = await signedIn(stage, { at: `#/users/${id}` });
    await admin.page.getByRole('heading', { level: 2, name: email }).waitFor();
    await admin.fill(admin.say.data, '{"a": 2}');
    await ownerQuery(
      stage.api,
      `UPDATE boxgate.session SET ended_at = now(), ended_as = 'closed' WHERE client = $1 AND ended_at IS NULL`,
      ['boxgate.ui'],
    );
    const signInElsewhere = async (person: Person): Promise<void> => {
      await admin.page.context().clearCookies();
      const other = await admin.page.context().newPage();
      await other.goto(`${stage.base}/ui/`);
      await typePassword(other, 'en', person);
      await other.getByRole('navigation').waitFor();
      await other.close();
    };
    await signInElsewhere(ann);
    const changes: number[] = [];
    admin.page.on('response', (response) => {
      if (response.request().method() === 'PUT') changes.push(response.status());
    });
    const stored = async (): Promise<unknown> => {
      const [row] = await ownerQuery(stage.api, 'SELECT data FROM boxgate."user" WHERE id = $1', [id]);
      return row?.['data'];
    };
    const header = admin.page.getByRole('banner');
    return { ...admin, email, changes, stored, header, signInElsewhere };
  }

  it('sends nothing in the name of the other user, says so, and continues as that user after a reload', async () => {
    const { page, say, press, sees, email, changes, stored, header, close } = await typedBefore('renewed');
    await press(say.save);
    const bar = page.getByText(say.otherUser(boss.email), { exact: true });
    await bar.or(page.getByText(say.saved(email), { exact: true })).waitFor();
    expect(await stored()).to.equal('{"a": 1}');
    expect(changes).to.deep.equal([401]);
    expect(await page.getByLabel(say.data, { exact: true }).inputValue()).to.equal('{"a": 2}');
    await header.getByText(say.signedInAs(boss.email)).waitFor();
    await sees(say.otherUserHere);
    page.on('dialog', (dialog) => void dialog.accept());
    await press(say.reload);
    await header.getByText(say.signedInAs(ann.email)).waitFor();
    await close();
  });

  it('goes on when the first user has signed in again', async () => {
    const { page, say, press, sees, email, changes, stored, signInElsewhere, close } = await typedBefore('again');
    await press(say.save);
    await sees(say.otherUser(boss.email));
    await press(say.goOn);
    await sees(say.otherUser(boss.email));
    await signInElsewhere(boss);
    await press(say.goOn);
    await eventually('the bar is gone', async () => (await page.getByText(say.otherUser(boss.email)).count()) === 0);
    await press(say.save);
    await sees(say.saved(email));
    expect(changes).to.deep.equal([401, 200]);
    expect(await stored()).to.equal('{"a": 2}');
    await close();
  });

  it('leaves no session of the other user behind', async () => {
    const { say, press, sees, close } = await typedBefore('closed');
    const open = () =>
      ownerQuery(
        stage.api,
        `SELECT s.id FROM boxgate.session s JOIN boxgate."user" u ON u.box = s.box AND u.id = s.user_id
          WHERE s.client = 'boxgate.ui' AND s.ended_at IS NULL AND u.email = $1`,
        [ann.email],
      );
    await eventually('that of the other tab is closed', async () => (await open()).length === 0);
    await press(say.save);
    await sees(say.otherUser(boss.email));
    await eventually('that of the attempt is closed', async () => (await open()).length === 0);
    await close();
  });
});

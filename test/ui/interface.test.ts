import { expect } from 'chai';
import { LANGUAGES } from '../../api/pages/page.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { eventually } from '../support/eventually.ts';
import { addBoss, signedIn } from './admin.ts';
import type { Admin } from './admin.ts';

/** interface.txt §4.7, sentence by sentence. */
describe('the admin UI of the interface', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => addBoss(stage));

  for (const language of LANGUAGES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      describe(`in ${language}, ${colorScheme}`, () => {
        const mark = `${language}-${colorScheme}`;
        let admin: Admin;
        before(async () => {
          admin = await signedIn(stage, { language, colorScheme });
        });
        after(() => admin.close());

        it('says that groups can be selected only when there are groups', async () => {
          const { page, say, open } = admin;
          await ownerQuery(stage.api, 'DELETE FROM boxgate."group" WHERE box = $1', ['default']);
          await open('users');
          await page.getByRole('link', { name: say.newUser }).click();
          await page.getByText(say.noGroups).waitFor();
          expect(await page.getByRole('group').getByRole('checkbox').count()).to.equal(0);
        });

        it('creates a group with Name and Description', async () => {
          const { page, say, open, press, fill, sees } = admin;
          await open('groups');
          await page.getByRole('link', { name: say.newGroup }).click();
          await fill(say.name, `staff-${mark}`);
          await fill(say.description, 'Who works here');
          await press(say.save);
          await sees(say.saved(`staff-${mark}`));
          expect(await storedGroups(stage, `staff-${mark}`)).to.deep.equal([
            { name: `staff-${mark}`, description: 'Who works here' },
          ]);
        });

        it('creates a user with Email, Password, Data and Group-ids', async () => {
          const { page, say, open, press, fill, sees } = admin;
          const email = `ann-${mark}@shop.example`;
          await open('users');
          await page.getByRole('link', { name: say.newUser }).click();
          await fill(say.email, email);
          await fill(say.password, 'correct horse');
          await fill(say.data, '{"age": 7, "age": 8}');
          await page.getByRole('group', { name: say.groupIds }).getByLabel(`staff-${mark}`).check();
          await press(say.save);
          await sees(say.saved(email));
          const [user] = await storedUsers(stage, email);
          expect(user?.['data']).to.equal('{"age": 7, "age": 8}');
          expect(user?.['groups']).to.deep.equal([`staff-${mark}`]);
        });

        it('checks Data while it is typed, and says where it is wrong', async () => {
          const { page, say, fill } = admin;
          await fill(say.data, '{\n  "a": 1,\n}');
          await page.getByText(say.notJson({ line: 3, column: 1, found: '}' })).waitFor();
          for (const valid of ['[1, null]', '"text"', '12', 'true', '{"a": {"b": []}}']) {
            await fill(say.data, valid);
            const field = page.getByLabel(say.data, { exact: true });
            expect(await field.getAttribute('aria-invalid'), valid).to.equal(null);
          }
        });

        it('narrows the list immediately while text is typed in the filter', async () => {
          const { page, say, open, rows } = admin;
          await open('users');
          const everybody = await rows();
          await page.getByLabel(say.filter).pressSequentially(`ann-${mark}`);
          await eventually('one row is left', async () => (await rows()).length === 1);
          expect((await rows())[0]).to.contain(`ann-${mark}@shop.example`);
          await page.getByLabel(say.filter).fill('nobody has this');
          await eventually('no row is left', async () => (await rows()).length === 0);
          await page.getByLabel(say.filter).fill('');
          await eventually('all rows are back', async () => (await rows()).length === everybody.length);
        });

        it('edits: select a record, change it, press Save', async () => {
          const { say, open, choose, fill, press, sees } = admin;
          await open('groups');
          await choose(`staff-${mark}`);
          await fill(say.description, 'Who works here now');
          await press(say.save);
          await sees(say.saved(`staff-${mark}`));
          expect((await storedGroups(stage, `staff-${mark}`))[0]?.['description']).to.equal('Who works here now');
        });

        it('deletes: select a record, press Delete; it is removed without confirmation', async () => {
          const { page, say, open, choose, press, sees, rows } = admin;
          const email = `ann-${mark}@shop.example`;
          const dialogs: string[] = [];
          page.on('dialog', (dialog) => {
            dialogs.push(dialog.message());
            void dialog.dismiss();
          });
          await open('users');
          await choose(email);
          await press(say.delete);
          await sees(say.deleted(email));
          expect(await storedUsers(stage, email)).to.deep.equal([]);
          expect((await rows()).filter((row) => row.includes(email))).to.deep.equal([]);
          expect(dialogs).to.deep.equal([]);
        });
      });
    }
  }
});

async function storedGroups({ api }: Stage, name: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return ownerQuery(api, 'SELECT name, description FROM boxgate."group" WHERE box = $1 AND name = $2', [
    'default',
    name,
  ]);
}

/** Returns the stored users with this email: their data and the names of their groups. */
function storedUsers({ api }: Stage, email: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return ownerQuery(
    api,
    `SELECT u.data, ARRAY(
              SELECT g.name FROM boxgate.group_member m JOIN boxgate."group" g ON g.box = m.box AND g.id = m.group_id
               WHERE m.box = u.box AND m.user_id = u.id) AS groups
       FROM boxgate."user" u WHERE u.box = $1 AND u.email = $2`,
    ['default', email],
  );
}

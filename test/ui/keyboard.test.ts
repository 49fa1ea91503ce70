import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { messages as pageMessages } from '../../api/pages/messages.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, adminAt, boss } from './admin.ts';
import type { Admin } from './admin.ts';

/** Most elements of a page that Tab may stop at before the one that is wanted. */
const MOST_STOPS = 60;

/** Each task of interface.txt §4.7. From the sign-in on, nothing touches the page but keys. */
describe('the keyboard alone, in the admin UI', () => {
  let stage: Stage;
  let page: Page;
  let admin: Admin;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    page = await stage.newPage({ locale: 'en' });
    admin = adminAt(page, 'en');
    await page.goto(`${stage.base}/ui/`);
  });
  after(() => page.context().close());

  const press = (key: string): Promise<void> => page.keyboard.press(key);
  const type = (text: string): Promise<void> => page.keyboard.type(text);
  const field = (label: string): Locator => page.getByLabel(label, { exact: true });
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const heading = (name: string): Promise<void> => page.getByRole('heading', { level: 2, name, exact: true }).waitFor();

  /** Presses Tab until it stops at an element. Fails if it does not stop there. */
  async function tabTo(wanted: Locator): Promise<void> {
    await wanted.waitFor();
    for (let stops = 0; stops < MOST_STOPS; stops += 1) {
      await press('Tab');
      if ((await wanted.and(page.locator(':focus')).count()) === 1) return;
    }
    expect.fail(`Tab does not reach ${String(wanted)}`);
  }

  async function open(tab: 'groups' | 'users'): Promise<void> {
    const name = admin.say.tabs[tab];
    await tabTo(page.getByRole('navigation').getByRole('link', { name, exact: true }));
    await press('Enter');
    await heading(name);
  }

  /** Types into the filter until one row is left, and selects that. */
  async function select(text: string): Promise<void> {
    await tabTo(field(admin.say.filter));
    await type(text);
    await eventually('one row is left', async () => (await admin.rows()).length === 1);
    await tabTo(page.getByRole('grid'));
    await press('ArrowDown');
    await press('Enter');
    await heading(text);
  }

  const stored = (query: string, name: string) => ownerQuery(stage.api, query, ['default', name]);

  it('signs in', async () => {
    await page.locator('input[name=email]:focus').waitFor();
    await type(boss.email);
    await tabTo(field(pageMessages.en.password));
    await type(boss.password);
    await press('Enter');
    await heading(admin.say.tabs.home);
  });

  it('creates a group with Name and Description', async () => {
    const { say, sees } = admin;
    await open('groups');
    await tabTo(page.getByRole('link', { name: say.newGroup }));
    await press('Enter');
    await heading(say.newGroup);
    await tabTo(field(say.name));
    await type('keys');
    await tabTo(field(say.description));
    await type('Who has no mouse');
    await tabTo(button(say.save));
    await press('Enter');
    await sees(say.saved('keys'));
    const query = 'SELECT description FROM boxgate."group" WHERE box = $1 AND name = $2';
    expect(await stored(query, 'keys')).to.deep.equal([{ description: 'Who has no mouse' }]);
  });

  it('creates a user with Email, Password, Data and Group-ids', async () => {
    const { say, sees } = admin;
    await open('users');
    await tabTo(page.getByRole('link', { name: say.newUser }));
    await press('Enter');
    await heading(say.newUser);
    await tabTo(field(say.email));
    await type('kay@shop.example');
    await tabTo(field(say.password));
    await type('correct horse');
    await tabTo(field(say.data));
    await type('{"age": 7}');
    await tabTo(page.getByRole('group', { name: say.groupIds }).getByLabel('keys'));
    await press('Space');
    await tabTo(button(say.save));
    await press('Enter');
    await sees(say.saved('kay@shop.example'));
    expect(await stored(USERS, 'kay@shop.example')).to.deep.equal([{ data: '{"age": 7}', groups: ['keys'] }]);
  });

  it('narrows the list, selects a record, changes it and saves it', async () => {
    const { say, sees } = admin;
    await open('users');
    await select('kay@shop.example');
    await tabTo(field(say.data));
    await press('ControlOrMeta+A');
    await type('{"age": 8}');
    await tabTo(button(say.save));
    await press('Enter');
    await sees(say.saved('kay@shop.example'));
    expect(await stored(USERS, 'kay@shop.example')).to.deep.equal([{ data: '{"age": 8}', groups: ['keys'] }]);
  });

  it('deletes a record, without confirmation', async () => {
    const { say, sees } = admin;
    await tabTo(button(say.delete));
    await press('Enter');
    await sees(say.deleted('kay@shop.example'));
    expect(await stored(USERS, 'kay@shop.example')).to.deep.equal([]);
    await open('groups');
    await select('keys');
    await tabTo(button(say.delete));
    await press('Enter');
    await page.getByText(say.deleted('keys')).waitFor();
    expect(await stored('SELECT FROM boxgate."group" WHERE box = $1 AND name = $2', 'keys')).to.deep.equal([]);
  });

  it('shows where the focus is, at every stop', async () => {
    await open('users');
    await tabTo(page.getByRole('link', { name: admin.say.newUser }));
    await press('Enter');
    await heading(admin.say.newUser);
    await press('Tab');
    // After the last stop the browser is at the body.
    while ((await page.locator(':focus').count()) === 1) {
      expect(await page.evaluate(FOCUS_RING), await page.evaluate(FOCUSED)).to.equal('solid 3px');
      await press('Tab');
    }
  });
});

/** The data of a user, and the names of their groups. */
const USERS = `SELECT u.data, ARRAY(
  SELECT g.name FROM boxgate.group_member m JOIN boxgate."group" g ON g.box = m.box AND g.id = m.group_id
   WHERE m.box = u.box AND m.user_id = u.id) AS groups
  FROM boxgate."user" u WHERE u.box = $1 AND u.email = $2`;

const FOCUSED = 'document.activeElement.outerHTML.slice(0, 80)';
const FOCUS_RING = `(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(
  getComputedStyle(document.activeElement))`;

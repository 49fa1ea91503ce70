import { expect } from 'chai';
import { hourly } from '../../api/ui/connection/members.ts';
import { TABS } from '../../api/ui/messages/messages.ts';
import { unusedIn, withoutAccess } from '../../api/ui/tabs/attention.ts';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn } from './admin.ts';

const hour = 3_600_000;

describe('the first page of the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => addBoss(stage));

  it('is Home for an administrator, with what happened, and addresses that are copied', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, say, press, close } = await signedIn(stage, { at: '', permissions });
    await page.getByRole('heading', { level: 2, name: say.tabs.home }).waitFor();
    const tabs = page.getByRole('navigation').getByRole('link');
    expect(await tabs.allInnerTexts()).to.deep.equal(TABS.map((tab) => say.tabs[tab]));
    const events = `SELECT FROM boxgate.audit_event WHERE event = 'user.signed_in'`;
    await eventually('the sign-in is recorded', async () => (await ownerQuery(stage.api, events, [])).length > 0);
    await page.reload();
    await eventually('the sign-in is counted', async () => {
      const label = await page.getByRole('img').first().getAttribute('aria-label');
      return label?.startsWith(say.signedInToday) === true && / [1-9]\d*$/.test(label);
    });
    await press(say.copyOf('Issuer'));
    await page.getByText(say.copied, { exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(stage.base);
    await close();
  });

  it('is the account for a user without rights, who sees no other tab', async () => {
    const carl = { email: 'carl@shop.example', password: boss.password };
    await addUser(stage.api, carl.email, carl.password);
    const { page, say, close } = await signedIn(stage, { at: '', person: carl });
    await page.getByRole('heading', { level: 2, name: say.tabs.account }).waitFor();
    const tabs = page.getByRole('navigation').getByRole('link');
    expect(await tabs.allInnerTexts()).to.deep.equal([say.tabs.account]);
    await close();
  });

  it('signs a person out everywhere', async () => {
    const dora = { email: 'dora@shop.example', password: boss.password };
    await addUser(stage.api, dora.email, dora.password);
    const theirs = await signedIn(stage, { at: '', person: dora });
    const { say, choose, press, fill, sees, close } = await signedIn(stage);
    await choose(dora.email);
    await press(say.signOutEverywhere);
    await sees(say.signedOutEverywhere(dora.email));
    // The record has its new version: it can be changed at once.
    await fill(say.data, '{"floor": 3}');
    await press(say.save);
    await sees(say.saved(dora.email));
    await close();
    await theirs.page.reload();
    await theirs.page.getByLabel('Password').waitFor();
    await theirs.close();
  });

  it('finds what was recorded on a day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { say, fill, sees, rows, close } = await signedIn(stage, { at: '#/audit' });
    await eventually('there are records', async () => (await rows()).length > 0);
    await fill(say.filter, '2020-01-31');
    await sees(say.nothingMatches('2020-01-31'));
    await fill(say.filter, today);
    await eventually('they are found', async () => (await rows()).length > 0);
    await close();
  });

  it('shows the members of a group, adds one, removes one, and undoes that', async () => {
    const email = 'member@shop.example';
    await addUser(stage.api, email, boss.password);
    await stage.api.declare('default', [{ kind: 'Group', id: 'staff' }]);
    const { page, say, choose, press, fill, sees, rows, close } = await signedIn(stage, { at: '#/groups' });
    await choose('staff');
    await sees(say.noMembersYet);
    await fill(say.addMember, 'memb');
    await press(say.add(email));
    await sees(say.memberAdded(email));
    await page.getByRole('link', { name: email, exact: true }).waitFor();
    expect((await rows())[0]?.split('\t')).to.deep.equal(['staff', '1']);
    await press(say.removeMember(email));
    await page.getByText(say.memberRemoved(email)).waitFor();
    expect(await page.getByRole('link', { name: email, exact: true }).count()).to.equal(0);
    await press(say.undo);
    await sees(say.memberAdded(email));
    await page.getByRole('link', { name: email, exact: true }).click();
    await page.getByRole('group', { name: say.groupIds }).getByRole('checkbox', { checked: true }).waitFor();
    await close();
  });

  it('counts equal events, each in its hour', () => {
    const end = Date.parse('2026-01-02T00:00:00Z');
    const event = (ago: number, count: number | null) => ({ created_at: new Date(end - ago).toISOString(), count });
    const hours = hourly([event(1, null), event(hour - 1, 3), event(hour + 1, 2), event(23.5 * hour, 5)], end);
    expect([hours.length, hours.at(-1), hours.at(-2), hours[0]]).to.deep.equal([24, 4, 2, 5]);
    expect(hourly([event(25 * hour, 7)], end)).to.deep.equal(hourly([], end));
  });

  it('shows an administrator what needs attention: a client without access, and one with two valid secrets', async () => {
    await stage.api.declare('default', [{ kind: 'Client', id: 'mute', grant_types: ['client_credentials'] }]);
    const { page, say, press, fill, sees, close } = await signedIn(stage, { at: '#/clients/+' });
    await fill(say.clientId, 'lonely');
    await press(say.save);
    await press(say.secretCopied);
    await page.getByLabel(say.oldSecret, { exact: true }).selectOption('1');
    await press(say.rotateSecret);
    await page.getByText(/^The previous secret is valid until /).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: say.tabs.home }).click();
    for (const name of [say.withoutAccess, say.rotating])
      await page.getByRole('region', { name }).getByRole('link', { name: 'lonely' }).waitFor();
    await page.getByRole('region', { name: say.withoutAccess }).getByRole('link', { name: 'lonely' }).click();
    await press(say.giveAccess);
    await sees(say.saved('lonely-read-users'));
    await page.getByRole('navigation').getByRole('link', { name: say.tabs.home }).click();
    await page
      .getByRole('region', { name: say.rotating })
      .getByText(/^The previous secret is valid/)
      .waitFor();
    const without = page.getByRole('region', { name: say.withoutAccess }).getByRole('link');
    await without.first().waitFor();
    expect(await without.allInnerTexts()).to.deep.equal(['mute']);
    await close();
  });

  it('names an active client of the client credentials grant that no policy concerns', () => {
    const grant_types = ['client_credentials'];
    const clients = [
      { id: 'alone', grant_types },
      { id: 'off', grant_types, active: false },
      { id: 'api', grant_types: [] },
      { id: 'linked', grant_types },
    ];
    const policies = [
      {
        link: [
          { resourceType: 'Client', id: 'linked' },
          { resourceType: 'User', id: 'alone' },
        ],
      },
    ];
    expect(withoutAccess(clients, policies)).to.deep.equal(['alone']);
    expect(withoutAccess(clients, [...policies, { subjects: 'authenticated' }])).to.deep.equal([]);
  });

  it('names a policy that granted nothing for 90 days, as far as that is known', () => {
    const now = Date.parse('2026-12-31T00:00:00Z');
    const policies = [
      { id: 'idle', created_at: '2026-01-01T00:00:00Z', last_used_at: '2026-02-01T00:00:00Z' },
      { id: 'never', created_at: '2026-01-01T00:00:00Z', last_used_at: null },
      { id: 'used', created_at: '2026-01-01T00:00:00Z', last_used_at: '2026-12-01T00:00:00Z' },
      { id: 'new', created_at: '2026-12-01T00:00:00Z', last_used_at: null },
    ];
    expect(unusedIn({ since: '2026-01-01T00:00:00Z', policies }, now)).to.deep.equal(['idle', 'never']);
    expect(unusedIn({ since: '2026-12-01T00:00:00Z', policies }, now)).to.deep.equal(['idle']);
  });
});

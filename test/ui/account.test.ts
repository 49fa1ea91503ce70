import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { userTokens } from '../support/user-token.ts';
import type { UserTokens } from '../support/user-token.ts';
import { boss, focused, signedIn } from './admin.ts';
import { holdRequests } from './hold-requests.ts';

describe('the account page of a user', () => {
  let stage: Stage;
  onStage((set) => (stage = set));

  const query = (text: string, ...parameters: string[]) => ownerQuery(stage.api, text, parameters);
  /** Stores the consent of a user for the client `foreign`. */
  const consent = (user: number) =>
    query(
      `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       SELECT box, $1::bigint, 'foreign', '{openid}', config_version, now() FROM boxgate.box WHERE box = 'default'`,
      String(user),
    );

  it('changes the own password, and takes back a consent, without a policy', async () => {
    const email = 'own@shop.example';
    await consent(await addUser(stage.api, email, boss.password));
    const { page, say, fill, press, sees, close } = await signedIn(stage, {
      person: { email, password: boss.password },
      at: '#/account',
      language: 'de',
    });
    await press(say.takeBack('foreign'));
    await sees(say.noGrants);
    await fill(say.newPassword, 'short');
    await fill(say.oldPassword, 'not the password');
    await press(say.save);
    await sees(say.tooShort(8));
    await sees(say.refusals['wrong-password']);
    expect(await page.getByText('is not the password').count()).to.equal(0);
    await fill(say.oldPassword, boss.password);
    await fill(say.newPassword, 'another long passphrase');
    await press(say.save);
    await sees(say.passwordChanged);
    await close();
    await (await signedIn(stage, { person: { email, password: 'another long passphrase' } })).close();
  });

  it('keeps the focus while it takes back a consent, sends that once, and then focuses the heading', async () => {
    const email = 'focus@shop.example';
    await consent(await addUser(stage.api, email, boss.password));
    const person = { email, password: boss.password };
    const { page, say, sees, close } = await signedIn(stage, { person, at: '#/account' });
    const button = page.getByRole('button', { name: say.takeBack('foreign'), exact: true });
    await button.waitFor();
    const held = await holdRequests(page, 'DELETE');
    await button.press('Enter');
    await eventually('it is sent', () => held.bodies.length === 1);
    await button.press('Enter');
    expect(await focused(page)).to.equal(`BUTTON ${say.takeBack('foreign')}`);
    held.release();
    await sees(say.noGrants);
    expect(await focused(page)).to.equal(`H3 ${say.grantsOfUser}`);
    expect(held.bodies).to.have.length(1);
    await close();
  });

  it('sends a new password once, however often Enter is pressed', async () => {
    const email = 'enters@shop.example';
    await addUser(stage.api, email, boss.password);
    const person = { email, password: boss.password };
    const { page, say, fill, sees, close } = await signedIn(stage, { person, at: '#/account' });
    await fill(say.oldPassword, boss.password);
    await fill(say.newPassword, 'another long passphrase');
    const held = await holdRequests(page, 'PUT');
    const field = page.getByLabel(say.newPassword, { exact: true });
    await field.press('Enter');
    await eventually('it is sent', () => held.bodies.length === 1);
    await field.press('Enter');
    held.release();
    await sees(say.passwordChanged);
    expect(held.bodies).to.have.length(1);
    await close();
  });

  it('says why a request is refused (403), and proposes no policy', async () => {
    const email = 'refused@shop.example';
    await addUser(stage.api, email, boss.password);
    const person = { email, password: boss.password };
    const { page, say, open, fill, press, sees, close } = await signedIn(stage, { person });
    await sees(say.noRightRemedy);
    const diagnostics = 'Only the admin UI of the box may do this';
    const body = { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code: 'forbidden', diagnostics }] };
    await page.route(/\/boxes\/default\/account(\/password)?$/, (route) => route.fulfill({ status: 403, json: body }));
    await open('account');
    await sees(diagnostics);
    await fill(say.oldPassword, boss.password);
    await fill(say.newPassword, 'another long passphrase');
    await press(say.save);
    await eventually('both requests are explained', async () => {
      const alerts = await page.getByRole('alert').allInnerTexts();
      return alerts.filter((text) => text.includes(diagnostics)).length === 2;
    });
    expect(await page.getByText(say.noRightRemedy).count()).to.equal(0);
    await close();
  });

  it('ends one of the own sessions without a policy, and that of the page itself without signing out', async () => {
    const email = 'ends@shop.example';
    const id = await addUser(stage.api, email, boss.password);
    const link = [{ resourceType: 'Client', id: 'phone' }];
    const auth = { authorization_code: { redirect_uri: 'https://phone.example/back' } };
    await stage.api.declare('default', [
      { kind: 'Client', id: 'phone', grant_types: ['authorization_code'], auth },
      { kind: 'AccessPolicy', id: 'phone', engine: 'allow', link },
    ]);
    const tokens: UserTokens[] = [];
    for (let nth = 0; nth < 2; nth += 1)
      tokens.push(await userTokens(stage.api.database.ownerUrl, 'default', 'phone', id));
    const person = { email, password: boss.password };
    const { page, say, sees, close } = await signedIn(stage, { person, at: '#/account' });
    const shown = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: say.endSession }) });
    const ofPhone = shown.filter({ hasText: 'phone ·' });
    const end = (which: Locator): Promise<void> => which.first().getByRole('button', { name: say.endSession }).click();
    await eventually('all of them are shown', async () => (await shown.count()) === 3 && (await ofPhone.count()) === 2);
    await end(ofPhone);
    await sees(say.sessionsEnded(1));
    await eventually('it is gone', async () => (await shown.count()) === 2 && (await ofPhone.count()) === 1);
    const statuses = tokens.map(async ({ access }) => {
      const headers = { Authorization: `Bearer ${access}` };
      return (await fetch(`${stage.base}/Client`, { headers })).status;
    });
    expect(await Promise.all(statuses)).to.have.members([200, 401]);
    const own = await ownSession();
    await end(shown.filter({ hasText: 'boxgate.ui' }));
    await eventually('the page has another session', async () => (await ownSession()) !== own);
    await eventually('the list shows it', async () => (await shown.count()) === 2);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await close();

    async function ownSession(): Promise<unknown> {
      const rows = await query(
        `SELECT id FROM boxgate.session WHERE user_id = $1::bigint AND client = 'boxgate.ui' AND ended_at IS NULL`,
        String(id),
      );
      return rows.map((row) => row['id']).join();
    }
  });
});

import { expect } from 'chai';
import type { Request } from 'playwright-core';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, boss, signedIn } from './admin.ts';

describe('a link to the admin UI with a path in the ID of a record', () => {
  let stage: Stage;
  let victim: string;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    victim = String(await addUser(stage.api, 'victim@shop.example', boss.password));
  });

  const uuid = '00000000-0000-4000-8000-000000000000';
  const up = '%2F..%2F..%2F';

  for (const [tab, collection] of [
    ['sessions', 'Session'],
    ['audit', 'AuditEvent'],
    ['users', 'users'],
    ['groups', 'Group'],
  ] as const) {
    it(`reaches no record of another collection: ${tab}`, async () => {
      const { page, say, close } = await signedIn(stage);
      await page.locator('tbody tr').first().waitFor();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(pathOf(request)));
      for (const id of [
        `${uuid}${up}users%2F${victim}`,
        '..',
        '.',
        '%2E%2E',
        `..%2Fusers%2F${victim}`,
        `${uuid}%3F_count=1`,
      ]) {
        asked.length = 0;
        await page.evaluate(`location.hash = ${JSON.stringify(`#/${tab}/${id}`)}`);
        await eventually('it is asked for', () => asked.some((path) => !isOfTab(path, collection)));
        const ofRecord = new RegExp(`^/boxes/default/${collection}/[^/?]+$`, 'u');
        const others = asked.filter((path) => !ofRecord.test(path) && !isOfTab(path, collection) && !isName(path));
        expect(others, id).to.deep.equal([]);
        await page.getByRole('alert').first().waitFor();
        expect(await page.getByRole('button', { name: say.endSession }).count(), id).to.equal(0);
        await page.evaluate(`location.hash = '#/account'`);
        await page.getByText(say.noGrants).waitFor();
      }
      await close();
    });
  }

  /** Checks whether a path is that of a user whom a list names: the victim has no session and did nothing. */
  const isName = (path: string) => /^\/boxes\/default\/users\/\d+$/.test(path) && !path.endsWith(`/${victim}`);

  it('does not delete a user as a session', async () => {
    const { page, say, close } = await signedIn(stage, { at: `#/sessions/${uuid}${up}users%2F${victim}` });
    const end = page.getByRole('button', { name: say.endSession });
    await page.getByText(say.gone, { exact: true }).or(end).waitFor();
    if ((await end.count()) > 0) {
      await end.click();
      await page.getByText(say.sessionsEnded(1)).waitFor();
    }
    expect(await ownerQuery(stage.api, 'SELECT id FROM boxgate."user" WHERE id = $1', [victim])).to.have.length(1);
    await close();
  });
});

function pathOf(request: Request): string {
  const { pathname, search } = new URL(request.url());
  return pathname + search;
}

/** Checks whether a path is that of a list, of the groups in the form of a user, or of the account page. */
function isOfTab(path: string, collection: string): boolean {
  return [`/boxes/default/${collection}?`, '/boxes/default/Group?', '/boxes/default/account'].some((one) =>
    path.startsWith(one),
  );
}

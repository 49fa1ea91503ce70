import { expect } from 'chai';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { sendForm } from '../oauth/requests.ts';
import { refusals } from '../../api/schemas/refusals.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { addBoss, signedIn } from './admin.ts';

describe('the refusals in the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    const robot = { id: 'robot', grant_types: ['client_credentials'], secret: 'a secret of a client' };
    await stage.api.declare('default', [{ kind: 'Client', ...robot }]);
  });

  it('say what is wrong and what to do, and lead to the client', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'robot', client_secret: 'another' };
    expect((await sendForm(`${stage.base}/auth/token`, fields)).status).to.equal(401);
    const events = `SELECT FROM boxgate.audit_event WHERE reason = 'wrong_secret'`;
    await eventually('the refusal is recorded', async () => (await ownerQuery(stage.api, events, [])).length > 0);
    const { page, choose, sees, close } = await signedIn(stage, { at: '#/refusals' });
    const { wrong, fix } = refusals.wrong_secret;
    await page.getByText(wrong).first().waitFor();
    await choose(wrong);
    await sees(fix);
    await page.getByRole('link', { name: 'Client/robot' }).click();
    await page.getByRole('heading', { level: 2, name: 'robot' }).waitFor();
    expect(page.url()).to.match(/#\/clients\/robot$/);
    await close();
  });
});

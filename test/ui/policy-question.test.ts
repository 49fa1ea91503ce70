import { expect } from 'chai';
import { onStage } from '../browser/stage.ts';
import type { Stage } from '../browser/stage.ts';
import { addBoss, signedIn } from './admin.ts';

describe('the answer to "May X do Y?" in the admin UI', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(async () => {
    await addBoss(stage);
    const link = [{ resourceType: 'Client', id: 'own' }];
    await stage.api.declare('default', [
      { kind: 'AccessPolicy', id: 'gets', engine: 'cel', expression: 'request_method == "get"', link },
    ]);
  });

  it('goes when the question is edited', async () => {
    const { page, say, fill, press, sees, close } = await signedIn(stage, { at: '#/policies' });
    const edits: readonly (() => Promise<unknown>)[] = [
      () => fill(say.path, '/b'),
      () => fill(say.body, '{}'),
      () => page.getByLabel(say.method).selectOption('put'),
    ];
    for (const edit of edits) {
      await fill(say.clientId, 'own');
      await page.getByLabel(say.method).selectOption('get');
      await press(say.ask);
      await sees(say.granted('gets'));
      await edit();
      expect(await page.getByText(say.granted('gets')).count()).to.equal(0);
    }
    await fill(say.userId, 'nobody@shop.example');
    await press(say.ask);
    await sees(say.noSuchUser('nobody@shop.example'));
    await fill(say.userId, '');
    expect(await page.getByRole('alert').count()).to.equal(0);
    await close();
  });

  it('is that to the last question, however late an earlier answer comes', async () => {
    const { page, say, fill, press, sees, close } = await signedIn(stage, { at: '#/policies' });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let count = 0;
    const late = new Promise<void>((resolve) => {
      void page.route('**/AccessPolicy/$explain', async (route) => {
        count += 1;
        if (count > 1) {
          await route.continue();
          return;
        }
        await released;
        // The page may have stopped waiting for it.
        await route.continue().catch(() => undefined);
        resolve();
      });
    });
    await fill(say.clientId, 'own');
    const first = page.waitForRequest('**/AccessPolicy/$explain');
    await press(say.ask);
    await first;
    await page.getByLabel(say.method).selectOption('put');
    await press(say.ask);
    await sees(say.denied);
    release();
    await late;
    await page.waitForTimeout(500);
    expect(await page.getByText(say.granted('gets')).count()).to.equal(0);
    await sees(say.denied);
    await close();
  });
});

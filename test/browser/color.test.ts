import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { boss, addBoss, typePassword } from '../ui/admin.ts';
import { axe, violations } from './axe.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** Colours that would be hard to read: light, dark, and in between. */
const colors = ['#ffd400', '#ffffff', '#000000', '#777777'];

describe('the colour of a box in a browser', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => addBoss(stage));

  const paint = (color: string) =>
    stage.api.declare('default', [
      { kind: 'Box', id: 'default', sign_in: { title: 'The Shop', color }, registration: { enabled: true } },
    ]);

  it('has the colour of its box on the sign-in page and in the console', async () => {
    await paint('#b3005e');
    const page = await stage.newPage();
    await page.goto(`${stage.base}/ui/`);
    await page.getByRole('button').waitFor();
    expect(await style(page, 'button', 'background-color')).to.equal('rgb(179, 0, 94)');
    expect(await style(page, 'a', 'color')).to.equal('rgb(179, 0, 94)');
    expect(await style(page, ':focus-visible', 'outline-color')).to.equal('rgb(179, 0, 94)');
    await typePassword(page, 'en', boss);
    await page.getByRole('navigation').waitFor();
    expect(await style(page, 'nav a[aria-current]', 'border-bottom-color')).to.equal('rgb(179, 0, 94)');
    await page.context().close();
  });

  it('loads nothing before the console is shown but its page, a script and a style', async () => {
    const page = await stage.newPage();
    await page.goto(`${stage.base}/ui/`);
    await typePassword(page, 'en', boss);
    await page.getByRole('navigation').waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname.replace(/ui-\w+/, 'ui-…')));
    await page.reload({ waitUntil: 'domcontentloaded' });
    const folder = `${new URL(stage.base).pathname}/ui/`;
    expect(requests.slice(0, 3).toSorted()).to.deep.equal([folder, `${folder}ui-….css`, `${folder}ui-….js`]);
    await page.context().close();
  });

  for (const color of colors) {
    it(`can be read everywhere where it is ${color}`, async () => {
      await paint(color);
      const page = await stage.newPage();
      await page.goto(`${stage.base}/ui/#/users/+`);
      await page.getByRole('button').waitFor();
      await page.evaluate(axe);
      await expectReadable(page, color);
      await typePassword(page, 'en', boss);
      await page.getByRole('button', { name: 'Save' }).waitFor();
      await page.evaluate(axe);
      await expectReadable(page, color);
      await page.context().close();
    });
  }
});

async function expectReadable(page: Page, color: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), `${color}, ${colorScheme}`).to.deep.equal([]);
  }
}

/** Returns a computed property of the first element that fits. */
function style(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${property}')`,
  );
}

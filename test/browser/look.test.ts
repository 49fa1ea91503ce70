import axe from 'axe-core';
import type { AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { LANGUAGES } from '../../api/pages/language.ts';
import { pageStates, problemStates } from './pages.ts';
import { fillBox, uiStates } from '../ui/states.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

describe('to the eye, the keyboard and a screen reader', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => fillBox(stage));

  it('is told by axe of what is wrong', async () => {
    const page = await stage.newPage();
    await page.setContent('<main><h1>x</h1><input><p style="color: #bbb; background: #fff">pale</p></main>');
    expect((await violations(page)).map((line) => line.split(':')[0])).to.include.members(['color-contrast', 'label']);
    await page.context().close();
  });

  for (const { name, open } of [...pageStates, ...problemStates, ...uiStates]) {
    for (const language of LANGUAGES) {
      it(`axe finds nothing wrong with ${name} in ${language}, light and dark, wide and narrow`, async () => {
        const page = await stage.newPage({ locale: language });
        await open(page, stage, language);
        expect(await page.locator('html').getAttribute('lang')).to.equal(language);
        for (const colorScheme of ['light', 'dark'] as const) {
          for (const width of [1280, 320]) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize({ width, height: 640 });
            const where = `${colorScheme}, ${String(width)} pixels wide`;
            expect(await violations(page), where).to.deep.equal([]);
            expect(await scrolledWidth(page), where).to.be.at.most(width);
          }
        }
        await page.context().close();
      });
    }
  }
});

/** Returns the violations that axe finds: the rule, its help text and the elements of the page. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const results = await page.evaluate<AxeResults>('axe.run()');
  return results.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join()}`);
}

/** Returns the width that a page needs to show all of itself (WCAG 1.4.10: no more than 320 pixels). */
function scrolledWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { LANGUAGES } from '../../api/pages/page.ts';
import type { Language } from '../../api/pages/page.ts';
import { axe, violations } from './axe.ts';
import { pageStates, problemStates } from './pages.ts';
import { fillBox, uiStates } from '../ui/states.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

interface Look {
  readonly colorScheme: 'light' | 'dark';
  /** In pixels. */
  readonly width: number;
}

/**
 * Colors do not depend on the width, layout does not depend on the colors, and neither on the language: the longer
 * words of German need room and labels.
 */
const looksIn: Readonly<Record<Language, readonly Look[]>> = {
  en: [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 320 },
  ],
  de: [{ colorScheme: 'light', width: 320 }],
};

const lookName = ({ colorScheme, width }: Look): string => `${colorScheme} and ${String(width)} pixels wide`;

describe('to the eye, the keyboard and a screen reader', () => {
  let stage: Stage;
  onStage((set) => (stage = set));
  before(() => fillBox(stage));

  it('is told by axe of what is wrong', async () => {
    const page = await stage.newPage();
    await page.setContent('<main><h1>x</h1><input><p style="color: #bbb; background: #fff">pale</p></main>');
    await page.evaluate(axe);
    expect((await violations(page)).map((line) => line.split(':')[0])).to.include.members(['color-contrast', 'label']);
    await page.context().close();
  });

  for (const language of LANGUAGES) {
    const looks = looksIn[language];
    describe(`in ${language}, ${looks.map(lookName).join(', ')}`, () => {
      let page: Page;
      before(async () => (page = await stage.newPage({ locale: language })));
      after(() => page.context().close());

      for (const { name, open } of [...pageStates, ...problemStates, ...uiStates]) {
        it(`axe finds nothing wrong with ${name}`, async () => {
          await forget(page);
          await open(page, stage, language);
          expect(await page.locator('html').getAttribute('lang')).to.equal(language);
          await page.evaluate(axe);
          for (const look of looks) {
            const { colorScheme, width } = look;
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize({ width, height: 640 });
            expect(await violations(page), lookName(look)).to.deep.equal([]);
            expect(await scrolledWidth(page), lookName(look)).to.be.at.most(width);
          }
        });
      }
    });
  }
});

/** Makes a page like that of a browser which nobody has used. A new one for each state would take twice the time. */
async function forget(page: Page): Promise<void> {
  await page.goto('about:blank');
  await page.unrouteAll();
  await page.context().clearCookies();
}

/** Returns the width that a page needs to show all of itself (WCAG 1.4.10: no more than 320 pixels). */
function scrolledWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}

import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { fillBox, uiStates } from '../ui/states.ts';
import { pageStates } from './pages.ts';
import type { PageState } from './pages.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const folder = 'docs/screenshots';

/** Settings of the screenshots of a page: on a desktop, and on a phone in dark mode. */
const pictures = [
  { suffix: '', language: 'en', viewport: { width: 560, height: 560 }, colorScheme: 'light' },
  { suffix: '-phone', language: 'de', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
] as const;

/** Pages with the pictures. */
const shownIn = [
  { document: 'docs/reference/sign-in-pages.md', states: pageStates, desk: {} },
  { document: 'docs/reference/ui.md', states: uiStates, desk: { viewport: { width: 1100, height: 700 } } },
];

describe('the pictures of the pages', () => {
  const namesOf = (states: readonly PageState[]) =>
    states.flatMap(({ name }) => pictures.map(({ suffix }) => `${name}${suffix}.png`));
  const names = shownIn.flatMap(({ states }) => namesOf(states));

  // `make screenshots` writes them; a run of the tests only looks for them.
  if (process.env['BOXGATE_WRITE_SCREENSHOTS'] === 'yes') {
    let stage: Stage;
    onStage((set) => (stage = set));
    before(() => fillBox(stage));
    const taken = shownIn.flatMap(({ states, desk }) => states.map((state) => ({ ...state, desk })));
    for (const { name, open, desk } of taken) {
      it(`${name} is taken`, async () => {
        for (const { suffix, language, ...options } of pictures) {
          const size = suffix === '' ? desk : {};
          const page = await stage.newPage({ locale: language, ...options, ...size });
          await open(page, stage, language);
          // A cursor that blinks would make another picture each time.
          await page.screenshot({ path: `${folder}/${name}${suffix}.png`, fullPage: true, caret: 'hide' });
          await page.context().close();
        }
      });
    }
  }

  it('are there, each, and no other', () => {
    expect(globSync('*', { cwd: folder }).sort()).to.deep.equal(names.toSorted());
  });

  for (const { document, states } of shownIn) {
    it(`stand in ${document}`, () => {
      const text = readFileSync(document, 'utf8');
      const shown = [...text.matchAll(/\]\(\.\.\/screenshots\/([^)]+)\)/g)].map(([, name]) => name);
      expect(namesOf(states).filter((name) => !shown.includes(name))).to.deep.equal([]);
    });
  }
});

import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { pageStates } from './pages.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const folder = 'docs/screenshots';

/** Settings of the screenshots of a page: on a desktop, and on a phone in dark mode. */
const pictures = [
  { suffix: '', language: 'en', viewport: { width: 560, height: 560 }, colorScheme: 'light' },
  { suffix: '-phone', language: 'de', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
] as const;

describe('the pictures of the pages', () => {
  const names = pageStates.flatMap(({ name }) => pictures.map(({ suffix }) => `${name}${suffix}.png`));

  // `make screenshots` writes them; a run of the tests only looks for them.
  if (process.env['BOXGATE_WRITE_SCREENSHOTS'] === 'yes') {
    let stage: Stage;
    onStage((set) => (stage = set));
    for (const { name, open } of pageStates) {
      it(`${name} is taken`, async () => {
        for (const { suffix, language, ...options } of pictures) {
          const page = await stage.newPage({ locale: language, ...options });
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

  it('stand in the page on users', () => {
    const shown = [...readFileSync('docs/users.md', 'utf8').matchAll(/\]\(screenshots\/([^)]+)\)/g)].map(
      ([, name]) => name,
    );
    expect(names.filter((name) => !shown.includes(name))).to.deep.equal([]);
  });
});

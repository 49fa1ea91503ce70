import { expect } from 'chai';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fillBox, uiStates } from '../ui/states.ts';
import { pageStates } from './pages.ts';
import type { PageState } from './pages.ts';
import { onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const folder = 'docs/screenshots';

/** Devices of the screenshots of a page: a desktop in English, and a phone in German. */
const devices = [
  { device: '', language: 'en', viewport: { width: 1280, height: 720 } },
  { device: '-phone', language: 'de', viewport: { width: 390, height: 720 } },
] as const;

/** Each is taken by day and by night. */
const schemes = [
  { scheme: '', colorScheme: 'light' },
  { scheme: '-dark', colorScheme: 'dark' },
] as const;

/** Pages with the pictures. */
const shownIn = [
  { document: 'docs/reference/sign-in-pages.md', states: pageStates },
  { document: 'docs/reference/ui.md', states: uiStates },
];

describe('the pictures of the pages', () => {
  const namesOf = (states: readonly PageState[]) =>
    states.flatMap(({ name }) =>
      devices.flatMap(({ device }) => schemes.map(({ scheme }) => `${name}${device}${scheme}.webp`)),
    );
  const names = shownIn.flatMap(({ states }) => namesOf(states));

  // `make screenshots` writes them; a run of the tests only looks for them.
  if (process.env['BOXGATE_WRITE_SCREENSHOTS'] === 'yes') {
    let stage: Stage;
    onStage((set) => (stage = set));
    before(() => fillBox(stage));

    /** Encodes a PNG in a browser again, as WebP: less than half of the bytes. */
    async function toWebp(png: Buffer): Promise<Buffer> {
      const page = await stage.newPage();
      const url = await page.evaluate<string>(`(async () => {
        const image = new Image();
        image.src = 'data:image/png;base64,${png.toString('base64')}';
        await image.decode();
        const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
        canvas.getContext('2d').drawImage(image, 0, 0);
        return canvas.toDataURL('image/webp', 0.8);
      })()`);
      await page.context().close();
      return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
    }

    for (const { name, open } of shownIn.flatMap(({ states }) => states)) {
      it(`${name} is taken`, async () => {
        for (const { device, language, viewport } of devices) {
          const page = await stage.newPage({ locale: language, viewport });
          await open(page, stage, language);
          for (const { scheme, colorScheme } of schemes) {
            await page.emulateMedia({ colorScheme });
            // A cursor that blinks would make another picture each time.
            const picture = await page.screenshot({ fullPage: true, caret: 'hide' });
            writeFileSync(`${folder}/${name}${device}${scheme}.webp`, await toWebp(picture));
          }
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

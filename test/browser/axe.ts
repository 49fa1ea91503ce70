import type { Result } from 'axe-core';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** The script of axe, to be evaluated in a page before {@link violations}. */
export const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Returns what axe, which the page has loaded, finds: the rule, its help text and the elements of the page. Only that
 * leaves the page: to send all that is right too would take most of the time.
 */
export async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate<Result[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join()}`);
}

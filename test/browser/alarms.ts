import type { Page } from 'playwright-core';

/**
 * Collects the forbidden actions of a page from now on: dialogs, requests to other hosts, and loads that its CSP
 * blocked. A blocked load is a fault too: the browser took the text for markup.
 */
export function alarmsOf(page: Page, origin: string): readonly string[] {
  const alarms: string[] = [];
  page.on('dialog', (dialog) => {
    alarms.push(`dialog at ${page.url()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(origin) || request.url() === 'about:blank';
    if (!isOurs) alarms.push(`request to ${request.url()}`);
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) alarms.push(message.text());
  });
  return alarms;
}

/** The elements of a page with the names of their attributes: no text that is shown may change it. */
export async function skeletonOf(page: Page): Promise<readonly string[]> {
  await page.waitForLoadState();
  return page.evaluate(
    `[...document.querySelectorAll('*')].map((one) => one.tagName + ' ' + one.getAttributeNames().join(' '))`,
  );
}

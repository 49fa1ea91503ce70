import type { Page, Route } from 'playwright-core';

/** Requests of a page with one method. */
export interface HeldRequests {
  /** Their bodies; '' for a request without one. */
  readonly bodies: readonly string[];
  readonly release: () => void;
}

/** Holds back the first request with a method until it is released; the later ones pass. */
export async function holdRequests(page: Page, method: string): Promise<HeldRequests> {
  const bodies: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/boxes/default/**', async (route: Route) => {
    if (route.request().method() === method) {
      bodies.push(route.request().postData() ?? '');
      if (bodies.length === 1) await released;
    }
    await route.continue();
  });
  return { bodies, release };
}

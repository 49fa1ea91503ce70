import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/**
 * The Chromium of this machine: that of CHROMIUM_PATH, else `chromium` on the PATH; none is ever downloaded. Throws where there
 * is none.
 */
export function findChromium(environment: NodeJS.ProcessEnv): string {
  const folders = (environment['PATH'] ?? '').split(path.delimiter);
  const named = environment['CHROMIUM_PATH'];
  const found = (named === undefined ? folders.map((one) => path.join(one, 'chromium')) : [named]).find(isExecutable);
  if (found !== undefined) return found;
  throw new Error('no Chromium: install the package chromium, or say with CHROMIUM_PATH where there is one');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds that a browser may take to start, or for what a test waits for: far beyond what a slow machine needs. */
export const patience = 120_000;

/** Starts it without a window. It speaks to nobody but those whom a test sends it to. */
export function launchChromium(executablePath: string): Promise<Browser> {
  // Chromium has no sandbox for root, which containers run tests as.
  const args = ['--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args, timeout: patience });
}

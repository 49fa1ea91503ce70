import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { chromium as needed, findCommand } from '../../tools/needs/commands.ts';

/**
 * The Chromium of this machine: that of CHROMIUM_PATH, else the one on the PATH, which `make needs` obtains. Throws
 * where there is none.
 */
export function findChromium(environment: NodeJS.ProcessEnv): string {
  const found = findCommand(needed, environment);
  if (found !== undefined) return found;
  throw new Error(
    'no Chromium: run make needs, install the package chromium-headless-shell, or say with CHROMIUM_PATH where there is one',
  );
}

/**
 * Milliseconds that a browser may take to start, or for what a test waits for: far beyond what a slow machine needs.
 */
export const patience = 120_000;

/** Starts it without a window. It speaks to nobody but those whom a test sends it to. */
export function launchChromium(executablePath: string): Promise<Browser> {
  // Chromium has no sandbox for root, which containers run tests as.
  const args = ['--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args, timeout: patience });
}

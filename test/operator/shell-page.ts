import { spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';

/** A block of commands of a page, and what is to be printed by them where the page says so. */
export interface ShellBlock {
  readonly commands: string;
  readonly printed: string | undefined;
}

/** The ```sh blocks of a page in their order; a ```text block right behind one is what it prints. */
export function shellBlocks(page: string): readonly ShellBlock[] {
  return [...page.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map(([, commands = '', printed]) => ({
    commands,
    printed,
  }));
}

/**
 * Runs blocks one after the other in one shell that ends at the first failure; what each printed, or throws what was
 * said.
 */
export async function runBlocks(
  blocks: readonly ShellBlock[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const mark = '-- the next block --';
  const script = blocks.map(({ commands }) => `${commands}\necho; echo '${mark}'\n`).join('');
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, said] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  const outputs = printed.split(`\n${mark}\n`);
  if (code === 0 && outputs.length === blocks.length + 1) return outputs.slice(0, -1);
  const failed = blocks[outputs.length - 1]?.commands ?? '';
  throw new Error(`ended with ${String(code)}:\n${failed}\n${said}\n${outputs.at(-1) ?? ''}`);
}

/**
 * Checks whether an output is as a page shows it. A `…` matches anything within a line, and alone on a line any lines.
 * Blanks match any number of blanks. Empty lines are ignored.
 */
export function isAsPrinted(expected: string, text: string): boolean {
  const lines = (one: string): string[] =>
    one
      .split('\n')
      .map((line) => line.trim().replaceAll(/\s+/g, ' '))
      .filter((line) => line !== '');
  const pattern = lines(expected).map((line) =>
    line === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`,
  );
  const given = `${lines(text).join('\n')}\n`;
  return isDeepStrictEqual(new RegExp(`^${pattern.join('')}$`, 'u').exec(given)?.[0], given);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

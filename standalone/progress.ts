import { grouped } from './plain-text.ts';

/** Tells how far long work is. */
export interface Progress {
  /** `done` of `of`; the last call has both equal. */
  report(what: string, done: number, of: number): void;
  /** Ends the line that is being rewritten, before something else is printed. */
  clear(): void;
}

/** Where it is written, and whether a line can be rewritten there. */
export interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Milliseconds between two lines where a line cannot be rewritten, and before the first one. */
const linePeriod = 2_000;
const rewritePeriod = 100;

/** Progress on one line of a terminal, or as a plain line now and then. Work that is quickly over says nothing. */
export function createProgress(output: ProgressOutput, now: () => number): Progress {
  const isTerminal = output.isTTY === true;
  const period = isTerminal ? rewritePeriod : linePeriod;
  let last: number | undefined;
  let said = false;

  function clear(): void {
    if (isTerminal && said) output.write('\r\u001b[K');
    said = false;
  }

  return {
    clear,
    report(what, done, of) {
      last ??= now();
      const isOver = done >= of;
      if (isOver ? !said : now() - last < period) {
        if (isOver) last = undefined;
        return;
      }
      const text = `${what}: ${grouped(done)} of ${grouped(of)}`;
      output.write(isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
      said = true;
      last = now();
      if (!isOver) return;
      clear();
      last = undefined;
    },
  };
}

import { grouped } from '../process/plain-text.ts';

/** Display of the progress of long work. */
export interface Progress {
  /** Shows `done` of `of`; the last call has both equal. */
  report(what: string, done: number, of: number): void;
  /** Ends the line that is being rewritten, before anything else is printed. */
  clear(): void;
}

/** Stream for the progress; on a terminal a line can be rewritten. */
export interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Milliseconds between two lines if a line cannot be rewritten, and before the first one. */
const linePeriod = 2_000;
const rewritePeriod = 100;

/** Shows progress on one line of a terminal, or as a plain line now and then. Short work prints nothing. */
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

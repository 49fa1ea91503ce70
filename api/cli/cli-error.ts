/**
 * Exit codes: done, refused by the box, command line not understood, box not reached, access only gained or any lost by
 * a plan (a difference of `diff` counts as the first), interrupted (128 + SIGINT).
 */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  gained: 10,
  lost: 11,
  interrupted: 130,
} as const;

/** Reason why a command cannot be carried out, as text for the person who typed it, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the error for a command line that is not understood. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

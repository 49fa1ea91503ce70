/** Reason why `boxgate dev` cannot start or continue, as one sentence for the user; exit code 1. */
export class DevError extends Error {
  override readonly name = 'DevError';
}

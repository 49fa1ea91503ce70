/** Why `boxgate dev` cannot begin or go on, as one sentence for the person who started it; exit code 1. */
export class DevError extends Error {
  override readonly name = 'DevError';
}

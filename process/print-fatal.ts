import { ConfigError } from './environment.ts';

/** Prints on standard error why a program cannot continue, one sentence for each mistake. */
export function printFatal(error: unknown): void {
  const sentences = error instanceof ConfigError ? error.mistakes : [sentenceOf(error)];
  for (const sentence of sentences) process.stderr.write(`boxgate: ${sentence}\n`);
}

/** Returns the failure and its cause: `Postgres cannot answer now: connect ECONNREFUSED 127.0.0.1:5432`. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  // Several addresses of one host have a message each, and none in common.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = error.message === '' && first !== undefined ? sentenceOf(first) : error.message;
  if (error.cause === undefined) return message;
  const cause = sentenceOf(error.cause);
  return message.includes(cause) ? message : `${message}: ${cause}`;
}

import { homedir } from 'node:os';
import { EXIT } from './cli-error.ts';
import { run } from './run.ts';

// What is written is written in one step, so nothing is half done.
process.once('SIGINT', () => process.exit(EXIT.interrupted));

process.exitCode = await run(process.argv.slice(2), {
  terminal: { input: process.stdin, output: process.stdout, messages: process.stderr },
  environment: process.env,
  home: homedir(),
});

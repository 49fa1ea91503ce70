import { homedir } from 'node:os';
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2), {
  terminal: { input: process.stdin, output: process.stdout, messages: process.stderr },
  environment: process.env,
  home: homedir(),
});

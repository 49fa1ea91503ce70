import { homedir } from 'node:os';
import path from 'node:path';
import { EXIT, fileReason } from './cli-error.ts';
import { run } from './run.ts';

// What is written is written in one step, so nothing is half done.
process.once('SIGINT', () => process.exit(EXIT.interrupted));

// The reader of a pipe may have read enough. Elsewhere, a result that is cut must not look complete.
let unwritten: number | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  if (unwritten === undefined) process.stderr.write(`boxctl: the output cannot be written: ${fileReason(error)}\n`);
  process.exitCode = unwritten = EXIT.unreachable;
});
process.stderr.on('error', () => undefined);

// kubectl runs a file of this name; the script of a checkout says so in the environment.
const isPlugin = path.basename(process.argv0) === 'kubectl-boxgate' || process.env['BOXCTL_PLUGIN'] === 'kubectl';

// No await here: the single file (tools/boxctl) is a CommonJS module.
void run(process.argv.slice(2), {
  terminal: { input: process.stdin, output: process.stdout, messages: process.stderr },
  environment: process.env,
  home: homedir(),
  isPlugin,
}).then((code) => {
  process.exitCode = unwritten ?? code;
});

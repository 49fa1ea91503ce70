// `npm run scan-output -- <file>`: the output of a whole test run must hold no password, token, code or secret.
import { readFileSync } from 'node:fs';
import { secretsIn } from '../support/secrets-in.ts';

const lines = readFileSync(process.argv[2] ?? '/dev/stdin', 'utf8').split('\n');
const found = lines.flatMap((line, nth) => secretsIn(line).map((name) => `line ${String(nth + 1)}: ${name}\n`));
process.stdout.write(found.length === 0 ? `no secret in ${String(lines.length)} lines of output\n` : found.join(''));
process.exitCode = found.length === 0 ? 0 : 1;

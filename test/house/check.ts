// `npm run check`: runs every script of package.json whose name begins with `check:`, two at a time, in their order
// there (the longest first). One that fails shows all it printed and stops no other.
import { spawn } from 'node:child_process';
import packageJson from '../../package.json' with { type: 'json' };

const waiting = Object.entries(packageJson.scripts).filter(([name]) => name.startsWith('check:'));
const failed: string[] = [];
await Promise.all([lane(), lane()]);
process.stdout.write(failed.length === 0 ? 'check: all good\n' : `check: failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function lane(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [script, command] = next;
    const name = script.slice('check:'.length);
    const started = performance.now();
    const { code, output } = await run(command);
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
    process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}\n`);
    if (code === 0) continue;
    failed.push(name);
    process.stdout.write(`${withoutProgress(output)}\n`);
  }
}

/** Without mocha's dots and the files that ended: the beginning of a long log is what its reader sees first. */
function withoutProgress(output: string): string {
  return output.replace(/^ +(?:[.,!]+|[\d.]+ s {2}.+ passed.*)\n/gm, '');
}

/** Runs a command as npm would: npm has put node_modules/.bin first on the PATH already. */
function run(command: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject).on('close', (code) => {
      resolve({ code, output });
    });
  });
}

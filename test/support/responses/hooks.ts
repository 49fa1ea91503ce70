import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FOLDER, compareSentResponses, readDocument } from './compare-sent.ts';
import { describedResponses } from './described.ts';
import { RARE_RESPONSES } from './rare-responses.ts';
import { totalsOf } from './results.ts';

/** Folder of the whole run, with one for each process of mocha. */
const RUN = 'RESPONSES_OF_RUN';

/**
 * Makes the OpenAPI document, and the folder in which all processes of this run write what they compare. Attacks that
 * are measured (BOXGATE_ATTACK_SECONDS) compare nothing: it takes half of the time of a server.
 */
export function mochaGlobalSetup(): void {
  execFileSync(process.execPath, ['tools/openapi/generate.ts']);
  if (process.env['BOXGATE_ATTACK_SECONDS'] !== undefined) return;
  process.env[RUN] = mkdtempSync(path.join(tmpdir(), 'boxgate-responses-'));
}

const reported = new Set<string>();

/**
 * Hooks around each test file: its responses that the OpenAPI document does not describe fail it. A run of every test
 * fails at its end instead, with all of them.
 */
export const mochaHooks = {
  beforeAll(): void {
    const run = process.env[RUN];
    if (run === undefined || process.env[FOLDER] !== undefined) return;
    process.env[FOLDER] = path.join(run, String(process.pid));
    compareSentResponses();
  },
  afterAll(): void {
    const folder = process.env[FOLDER];
    if (folder === undefined || process.env['WHOLE_RUN'] !== undefined) return;
    const faults = totalsOf(folder).faults.filter((fault) => !reported.has(fault));
    for (const fault of faults) reported.add(fault);
    if (faults.length > 0) throw new Error(differs(faults));
  },
};

/**
 * Prints the number of compared responses. Throws after a run of every test that sent a response which is not
 * described, or never sent one that is: mocha counts that as a failure of the run.
 */
export function mochaGlobalTeardown(): void {
  const run = process.env[RUN];
  if (run === undefined) return;
  const { count, names, faults } = totalsOf(run);
  rmSync(run, { recursive: true, force: true });
  if (count === 0) return;
  const told = `${count.toLocaleString('en-US')} responses compared with the OpenAPI document, ${String(faults.length)} not as described`;
  process.stdout.write(`${told}\n`);
  if (process.env['WHOLE_RUN'] === undefined) return;
  const never = [...describedResponses(readDocument()).names].filter(
    (name) => !names.has(name) && !RARE_RESPONSES.has(name),
  );
  const listed = [...faults, ...never.map((name) => `described, but never sent: ${name}`)];
  if (listed.length > 0) throw new Error(differs(listed));
}

function differs(faults: readonly string[]): string {
  return [
    'the OpenAPI document differs from what was sent: correct crds/, api/schemas and tools/openapi, of which it is made, or the response',
    ...faults,
  ].join('\n  ');
}

/** Returns the variables by which a program that a test starts compares its responses too. */
export function comparedResponses(): Readonly<Record<string, string>> {
  const folder = process.env[FOLDER];
  return folder === undefined ? {} : { [FOLDER]: folder };
}

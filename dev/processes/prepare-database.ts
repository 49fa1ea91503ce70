import { isObject, parseJson } from '../../crds/path.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DevError } from '../options.ts';

/** A database to prepare: the URLs of its owner and of the API's role, and whether the owner creates that role. */
export interface DatabaseToPrepare {
  readonly ownerUrl: string;
  readonly apiUrl: string;
  readonly createsRole: boolean;
}

/** Internal command that calls {@link prepareInProcess}. */
const PREPARE_COMMAND = 'prepare-database';

/**
 * Creates the API's role if it has to, and brings the schema up to date, in a process that ends afterwards: a process
 * that runs for days should not keep the memory that this takes. `self` starts `boxgate`. Throws DevError.
 */
export async function prepareDatabase(
  self: readonly [string, ...string[]],
  database: DatabaseToPrepare,
): Promise<void> {
  const [program, ...args] = self;
  const child = spawn(program, [...args, PREPARE_COMMAND], { env: {}, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.stdin.on('error', () => undefined);
  // Not as arguments: everybody on the machine can read those.
  child.stdin.end(JSON.stringify(database));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new DevError(complaint.trim() || 'The database could not be prepared');
}

/** Reads the request and prepares the database; prints a failure on standard error. Returns the exit code. */
export async function prepareInProcess(input: AsyncIterable<Buffer | string>): Promise<number> {
  const { ensureApiRole } = await import('../../api/db/core/api-role.ts');
  const { migrate } = await import('../../api/db/core/migrate.ts');
  let text = '';
  for await (const piece of input) text += piece.toString();
  try {
    const { ownerUrl, apiUrl, createsRole } = requestOf(parseJson(text));
    const { username, password } = new URL(apiUrl);
    const role = decodeURIComponent(username);
    if (createsRole) await ensureApiRole(ownerUrl, role, decodeURIComponent(password));
    await migrate(ownerUrl, role);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
    return 1;
  }
}

function requestOf(value: unknown): DatabaseToPrepare {
  if (isObject(value)) {
    const { ownerUrl, apiUrl, createsRole } = value;
    if (typeof ownerUrl === 'string' && typeof apiUrl === 'string' && typeof createsRole === 'boolean') {
      return { ownerUrl, apiUrl, createsRole };
    }
  }
  throw new Error(`${PREPARE_COMMAND} is for boxgate dev alone`);
}

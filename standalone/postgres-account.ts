import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

/** A user and a group by their numbers. */
export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** The account that Postgres runs under, and what to put before its command line so that it does. */
export interface PostgresAccount {
  /** To be the owner of the files; undefined: our own. */
  readonly owner: Ids | undefined;
  /** To start a process under; undefined: our own, or the command itself changes it. */
  readonly ids: Ids | undefined;
  /** The program and arguments that start `program` under the account. */
  command(program: string, args: readonly string[]): { readonly program: string; readonly args: readonly string[] };
}

/**
 * Postgres refuses to run as root: then it runs as whoever owns the data, or as the user `postgres`. Where that user
 * cannot pass through the folders above the programs or the data (a checkout below /root), it keeps one capability of
 * root's: to pass through them.
 */
export function postgresAccount(dataDir: string, programs: readonly string[]): PostgresAccount {
  const plain = (program: string, args: readonly string[]) => ({ program, args });
  if (process.getuid?.() !== 0) return { owner: undefined, ids: undefined, command: plain };
  const ids = ownerOf(dataDir) ?? postgresUser();
  const isReachable = [dataDir, ...programs].every((file) => mayPass(path.dirname(file), ids));
  if (isReachable) return { owner: ids, ids, command: plain };
  const drop = [`--reuid=${String(ids.uid)}`, `--regid=${String(ids.gid)}`, '--clear-groups'];
  const keep = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return {
    owner: ids,
    ids: undefined,
    command: (program, args) => ({ program: 'setpriv', args: [...drop, ...keep, '--', program, ...args] }),
  };
}

/** The owner of data that is there already. */
function ownerOf(dataDir: string): Ids | undefined {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

/** The user `postgres`, made when it is missing. */
function postgresUser(): Ids {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Whether an account may pass through a folder and all above it. */
function mayPass(folder: string, { uid, gid }: Ids): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found !== undefined) {
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
  }
  const parent = path.dirname(folder);
  return parent === folder || mayPass(parent, { uid, gid });
}

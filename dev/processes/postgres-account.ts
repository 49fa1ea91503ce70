import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

/** A user and a group by their numbers. */
export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** The account that Postgres runs under, and the command line that runs a program under it. */
export interface PostgresAccount {
  /** New owner of the files; undefined: our own account. */
  readonly owner: Ids | undefined;
  /** Account to start a process under; undefined: our own, or the command itself changes it. */
  readonly ids: Ids | undefined;
  /** Returns the program and arguments that start `program` under the account. */
  command(program: string, args: readonly string[]): { readonly program: string; readonly args: readonly string[] };
}

/**
 * Chooses the account for Postgres, which refuses to run as root: then it runs as the owner of the data, or as the user
 * `postgres`. If that user cannot pass through the folders above the programs or the data (a checkout below /root), it
 * keeps one capability of root's to pass through them, CAP_DAC_OVERRIDE.
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

/** Returns the owner of data that is there already; undefined for root. */
function ownerOf(dataDir: string): Ids | undefined {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

/** Returns the user `postgres`, and creates it if it is missing. */
function postgresUser(): Ids {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Checks whether an account may pass through a folder and all above it. */
function mayPass(folder: string, { uid, gid }: Ids): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found !== undefined) {
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
  }
  const parent = path.dirname(folder);
  return parent === folder || mayPass(parent, { uid, gid });
}

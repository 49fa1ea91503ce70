import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Runs "$@" until standard input, a pipe from this process, closes: then this process has ended, however hard, and so
 * does the program, by SIGKILL. The folder in $1 goes with it.
 */
const guard = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; trap "" TERM; kill -9 "$child"; sleep 0.2; rm -rf "$folder"; } >/dev/null 2>&1 &
watcher=$!
wait "$child"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

/** A program that ends with this process. */
export interface Guarded {
  /** Process ID of the shell that guards the program: its child is the program. */
  readonly pid: number;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
}

/** Starts a program whose output goes to a file; it does not keep this process running, and ends with it. */
export function startGuarded(folder: string, log: string, command: readonly [string, ...string[]]): Guarded {
  const output = openSync(log, 'a');
  const child = spawn('sh', ['-c', guard, 'guard', folder, ...command], {
    stdio: ['pipe', output, output],
    // Its own session: a terminal that closes ends the tests, and not the guard.
    detached: true,
  });
  closeSync(output);
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('exit', () => resolve());
  });
  // What is open to a child would keep this process running.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  if (child.pid === undefined) throw new Error(`${command[0]} was not started: there is no sh`);
  return { pid: child.pid, ended, hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

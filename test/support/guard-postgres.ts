import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Waits until standard input, a pipe from this process, closes; then ends the server on "$1"/data and removes the
 * folder.
 */
const guard = `
read -r _
data=$(cd "$1/data" && pwd -P)
read -r server <"$data/postmaster.pid"
serves() { [ "$(readlink "/proc/$server/cwd")" = "$data" ]; }
if [ -n "$data" ] && serves; then
  kill -QUIT "$server"
  kill -CONT "$server"
  while serves; do sleep 0.1; done
fi
rm -rf "$1"
`;

/**
 * Ends the Postgres server that runs on `data` of a folder, and removes the folder, when this process has ended,
 * however hard. Returns the function that calls this off.
 */
export function guardPostgres(folder: string): () => void {
  // Its own process group: ^C at a terminal ends the tests, of which mocha then tears nothing down, and not the guard.
  const child = spawn('sh', ['-c', guard, 'guard', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // What is open to a child would keep this process running.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return () => {
    child.kill('SIGKILL');
  };
}

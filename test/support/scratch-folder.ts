import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Folder in memory, on Linux. */
const inMemory = '/dev/shm';

/** Bytes that must be free there: the databases of a whole run take about 1 GiB. */
const room = 4 * 1024 ** 3;

/**
 * Creates a folder for the data of a server that a test starts: in memory if there is room. A database of a test has
 * 1,700 files. A disk takes a second of CPU time to copy them, and memory a twentieth of that. A TMPDIR that is set is
 * used instead.
 */
export async function scratchFolder(name: string): Promise<string> {
  const isRoomy = await statfs(inMemory).then(
    ({ bavail, bsize }) => bavail * bsize >= room,
    () => false,
  );
  return mkdtemp(path.join(isRoomy && process.env['TMPDIR'] === undefined ? inMemory : tmpdir(), name));
}

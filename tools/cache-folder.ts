import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Returns the folder outside the tree for programs that tests need: `boxgate` in $XDG_CACHE_HOME, which is otherwise
 * ~/.cache.
 */
export function cacheFolder({ XDG_CACHE_HOME: cache = '' }: Readonly<Record<string, string | undefined>>): string {
  return path.join(cache === '' ? path.join(homedir(), '.cache') : cache, 'boxgate');
}

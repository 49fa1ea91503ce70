import path from 'node:path';

/** Returns a path relative to `cwd` where that is shorter. */
export function shortPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.length < file.length ? relative : file;
}

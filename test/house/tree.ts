import { execFileSync } from 'node:child_process';

/** The files of the working tree, committed or not yet, without what .gitignore names. Paths from the root, sorted. */
export function filesOfTheTree(): string[] {
  const git = (...options: string[]) =>
    execFileSync('git', ['ls-files', '-z', ...options], { encoding: 'utf8' })
      .split('\0')
      .filter(Boolean);
  const deleted = new Set(git('--deleted'));
  return git('--cached', '--others', '--exclude-standard')
    .filter((file) => !deleted.has(file))
    .sort();
}

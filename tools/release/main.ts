import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { releasedFiles, ReleaseError } from './release.ts';

const git = (...parameters: readonly string[]): string => execFileSync('git', [...parameters], { encoding: 'utf8' });

const versioned = ['package.json', 'package-lock.json', 'CHANGELOG.md'] as const;

/** Commits and tags a version of the repository in the working folder. Throws ReleaseError. */
function release(version: string): void {
  const changed = git('status', '--porcelain').trimEnd();
  if (changed !== '') throw new ReleaseError(`commit or stash your changes first:\n${changed}`);
  const files = releasedFiles(
    {
      'package.json': readFileSync('package.json', 'utf8'),
      'package-lock.json': readFileSync('package-lock.json', 'utf8'),
      'CHANGELOG.md': readFileSync('CHANGELOG.md', 'utf8'),
    },
    version,
    new Date().toISOString().slice(0, 10),
  );
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new ReleaseError(`the tag ${tag} exists: choose another version`);
  for (const name of versioned) writeFileSync(name, files[name]);
  git('commit', '--quiet', '--message', `release: ${version}`, '--', ...versioned);
  git('tag', '--annotate', '--message', `Boxgate ${version}`, tag);
  process.stdout.write(`committed and tagged ${tag}. Publish it: git push --follow-tags\n`);
}

try {
  release(process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

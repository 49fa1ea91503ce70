import { isObject } from '../../crds/path.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { checkVersion, releasedChangelog, ReleaseError } from './release.ts';

const git = (...parameters: readonly string[]): string => execFileSync('git', [...parameters], { encoding: 'utf8' });

/** Commits and tags a version of the repository in the working folder. Throws ReleaseError. */
function release(version: string): void {
  const changed = git('status', '--porcelain').trimEnd();
  if (changed !== '') throw new ReleaseError(`commit or stash your changes first:\n${changed}`);
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  checkVersion(version, presentVersion(), changelog);
  const released = releasedChangelog(changelog, version, new Date().toISOString().slice(0, 10));
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new ReleaseError(`the tag ${tag} exists: choose another version`);
  writeFileSync('CHANGELOG.md', released);
  // Sets it in package.json and package-lock.json.
  execFileSync('npm', ['version', version, '--no-git-tag-version', '--allow-same-version'], { stdio: 'pipe' });
  git('commit', '--quiet', '--all', '--message', `release: ${version}`);
  git('tag', '--annotate', '--message', `Boxgate ${version}`, tag);
  process.stdout.write(`committed and tagged ${tag}. Publish it: git push --follow-tags\n`);
}

function presentVersion(): string {
  const described: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
  return isObject(described) ? String(described['version']) : '';
}

try {
  release(process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

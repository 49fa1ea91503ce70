/** Files of a repository that name its version. */
export interface VersionedFiles {
  readonly 'package.json': string;
  readonly 'package-lock.json': string;
  readonly 'CHANGELOG.md': string;
}

/** Error for the person who releases: says what is wrong and what to do. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

const shape = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;
const heading = '## Unreleased';

/**
 * Returns the files of a release (pure): the version set, and the changes that were unreleased under a heading with the
 * version and the day (`2026-11-23`), below a new empty one. Throws ReleaseError.
 */
export function releasedFiles(files: VersionedFiles, version: string, day: string): VersionedFiles {
  const parts = partsOf(version);
  if (parts === undefined) {
    throw new ReleaseError(`VERSION must be three numbers such as 1.4.0, not "${version}" (https://semver.org)`);
  }
  const present = /^ {2}"version": "([^"]*)"/m.exec(files['package.json'])?.[1] ?? '';
  // The first release may have the version that package.json begins with.
  const isFirst = !files['CHANGELOG.md'].split('\n').some((line) => /^## \d/.test(line));
  if (!isNewer(parts, partsOf(present) ?? [0, 0, 0]) && !(isFirst && version === present)) {
    throw new ReleaseError(`VERSION must be newer than ${present}, the version in package.json, and is ${version}`);
  }
  return {
    'package.json': files['package.json'].replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`),
    'package-lock.json': withLockedVersion(files['package-lock.json'], version),
    'CHANGELOG.md': withHeading(files['CHANGELOG.md'], `## ${version} (${day})`),
  };
}

type Parts = readonly [number, number, number];

function partsOf(version: string): Parts | undefined {
  const found = shape.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3])];
}

function isNewer([major, minor, patch]: Parts, than: Parts): boolean {
  if (major !== than[0]) return major > than[0];
  if (minor !== than[1]) return minor > than[1];
  return patch > than[2];
}

/** Sets the two versions of the package itself, which come before those of its dependencies. */
function withLockedVersion(lock: string, version: string): string {
  let left = 2;
  return lock.replace(/^( {2}| {6})("version": )"[^"]*"/gm, (line, indent: string, name: string) => {
    left -= 1;
    return left < 0 ? line : `${indent}${name}"${version}"`;
  });
}

function withHeading(changelog: string, released: string): string {
  const lines = changelog.split('\n');
  const at = lines.indexOf(heading);
  if (at === -1) throw new ReleaseError(`CHANGELOG.md has no heading "${heading}": add it above the changes`);
  const next = lines.findIndex((line, index) => index > at && line.startsWith('## '));
  const changes = lines.slice(at + 1, next === -1 ? undefined : next);
  if (changes.every((line) => line.trim() === '' || line.startsWith('### '))) {
    throw new ReleaseError(`CHANGELOG.md names no change under "${heading}": write what changes for users first`);
  }
  return [...lines.slice(0, at + 1), '', released, ...lines.slice(at + 1)].join('\n');
}

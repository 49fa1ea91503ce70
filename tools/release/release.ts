/** Error for the person who releases: says what is wrong and what to do. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

const shape = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;
const heading = '## Unreleased';

/**
 * Checks that a version may follow the present one. The first release may have the version that package.json begins
 * with. Throws ReleaseError.
 */
export function checkVersion(version: string, present: string, changelog: string): void {
  const parts = partsOf(version);
  if (parts === undefined) {
    throw new ReleaseError(`VERSION must be three numbers such as 1.4.0, not "${version}" (https://semver.org)`);
  }
  const isFirst = !changelog.split('\n').some((line) => /^## \d/.test(line));
  if (!isNewer(parts, partsOf(present) ?? [0, 0, 0]) && !(isFirst && version === present)) {
    throw new ReleaseError(`VERSION must be newer than ${present}, the version in package.json, and is ${version}`);
  }
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

/**
 * Returns the changelog with its unreleased changes under a heading with the version and the day (`2026-11-23`), below
 * a new empty one. Throws ReleaseError.
 */
export function releasedChangelog(changelog: string, version: string, day: string): string {
  const lines = changelog.split('\n');
  const at = lines.indexOf(heading);
  if (at === -1) throw new ReleaseError(`CHANGELOG.md has no heading "${heading}": add it above the changes`);
  const next = lines.findIndex((line, index) => index > at && line.startsWith('## '));
  const changes = lines.slice(at + 1, next === -1 ? undefined : next);
  if (changes.every((line) => line.trim() === '' || line.startsWith('### '))) {
    throw new ReleaseError(`CHANGELOG.md names no change under "${heading}": write what changes for users first`);
  }
  return [...lines.slice(0, at + 1), '', `## ${version} (${day})`, ...lines.slice(at + 1)].join('\n');
}

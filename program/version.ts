import { readFileSync } from 'node:fs';

/** Returns the version of this release, as package.json beside the programs has it. */
export function releaseVersion(): string {
  const value: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : 'unknown';
}

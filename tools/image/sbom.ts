// `node tools/image/sbom.ts`: prints the SBOM (CycloneDX) of the packages that the image holds.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isObject } from '../../crds/path.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-sbom-'));
try {
  // npm takes the name of the program from the folder.
  const root = path.join(folder, 'boxgate');
  mkdirSync(root);
  // `npm sbom --omit=dev` also leaves out packages that development packages need as well, such as express.
  for (const [file, found] of Object.entries(withoutDevelopment())) {
    writeFileSync(path.join(root, file), JSON.stringify(found));
  }
  const parameters = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  process.stdout.write(execFileSync('npm', parameters, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
} finally {
  rmSync(folder, { recursive: true });
}

/** Returns package.json and package-lock.json without the packages of developers. */
function withoutDevelopment() {
  const { devDependencies: _ours, ...described } = objectIn('package.json');
  const lock = objectIn('package-lock.json');
  const packages = isObject(lock['packages']) ? lock['packages'] : {};
  const kept = Object.entries(packages).flatMap(([place, entry]) => {
    if (!isObject(entry) || entry['dev'] === true) return [];
    const { devDependencies: _its, ...rest } = entry;
    return [[place, rest] as const];
  });
  return { 'package.json': described, 'package-lock.json': { ...lock, packages: Object.fromEntries(kept) } };
}

function objectIn(file: string): Readonly<Record<string, unknown>> {
  const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isObject(found)) throw new TypeError(`${file} is not an object`);
  return found;
}

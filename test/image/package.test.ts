import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { isList, isObject, parseJson } from '../../crds/path.ts';

describe('the npm package', () => {
  it('has both commands, compiled, with the schema, the admin UI and the OpenAPI document, and no sources or tests', () => {
    const told = parseJson(execFileSync('npm', ['pack', '--dry-run', '--json'], { encoding: 'utf8', stdio: 'pipe' }));
    const [packed] = isList(told) ? told : [];
    const listed: unknown = isObject(packed) ? packed['files'] : undefined;
    const files = isList(listed) ? listed.map((file) => String(isObject(file) && file['path'])) : [];
    const program = 'dist/package/';
    expect(files.filter((file) => !file.startsWith(program))).to.have.members([
      ...['LICENSE', 'README.md', 'boxctl', 'boxgate', 'package.json'],
    ]);
    expect(files).to.include.members(
      ['dev/main.js', 'api/cli/main.js', 'package.json', 'api/http/endpoints/openapi.json', 'api/db/schema.sql'].map(
        (file) => program + file,
      ),
    );
    const built = globSync(`${program}api/ui/**/*.{js,css}`).map((file) => path.normalize(file));
    expect(built).not.to.deep.equal([]);
    expect(files).to.include.members(built);
    expect(files.filter((file) => /\.tsx?$|node_modules|^dist\/package\/(test|tools)\//.test(file))).to.deep.equal([]);
  });
});

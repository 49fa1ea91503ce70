import { expect } from 'chai';
import { ESLint } from 'eslint';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Sources that break a house rule: the file, its text, and the lint rule that must report it. */
const refused = [
  ['crds/any.ts', 'const x: any = 1; export { x };', '@typescript-eslint/no-explicit-any'],
  ['crds/bang.ts', 'export const x = (y?: string) => y!;', '@typescript-eslint/no-non-null-assertion'],
  ['crds/as.ts', 'export const x = (y: unknown) => y as string;', '@typescript-eslint/consistent-type-assertions'],
  ['crds/default.ts', 'export default 1;', 'no-restricted-syntax'],
  ['crds/barrel.ts', "export * from './any.ts';", 'no-restricted-syntax'],
  ['crds/barrel-too.ts', "export { x } from './any.ts';", 'no-restricted-syntax'],
  ['crds/effect.ts', "import './any.ts';", 'no-restricted-syntax'],
  ['crds/enum.ts', 'enum X { a }\nexport const x = X.a;', 'no-restricted-syntax'],
  ['api/env.ts', "export const x = process.env['X'];", 'no-restricted-syntax'],
  ['api/env-too.ts', "import { env } from 'node:process';\nexport const x = env['X'];", 'no-restricted-syntax'],
  ['api/chance.ts', 'export const x = () => Math.random();', 'no-restricted-syntax'],
  ['api/bare.ts', "import fs from 'fs';\nexport const x = fs;", 'no-restricted-imports'],
  ['api/print.ts', "console.log('x');", 'no-console'],
  ['api/floating.ts', 'const x = async () => 1;\nx();', '@typescript-eslint/no-floating-promises'],
  [
    'api/switch.ts',
    "export function x(y: 'a' | 'b') { switch (y) { case 'a': return 1; } return 2; }",
    '@typescript-eslint/switch-exhaustiveness-check',
  ],
  ['api/undocumented.ts', 'export const x = 1;', 'boxgate/doc-on-export'],
  [
    'api/params.ts',
    '/** Adds. */\nexport const x = (a: number, b: number, c: number, d: number, e: number) => a + b + c + d + e;',
    '@typescript-eslint/max-params',
  ],
  ['api/long.ts', `// line\n`.repeat(351), 'max-lines'],
  ['test/any.test.ts', 'const x: any = 1; export { x };', '@typescript-eslint/no-explicit-any'],
] as const;

/** Similar sources that are permitted. */
const accepted = [
  ['api/config.ts', "/** The setting. */\nexport const x = process.env['X'];"],
  ['api/const.ts', "/** The set. */\nexport const x = ['a', 'b'] as const;"],
  ['api/chosen.ts', '/** Rolls. */\nexport const x = (chance = Math.random): number => chance();'],
  ['api/both.ts', '/** The number. */\nexport const X = 1;\nexport type X = typeof X;'],
  ['test/assert.test.ts', "import { expect } from 'chai';\nexpect(true).to.be.true;\nexport const env = process.env;"],
] as const;

describe('the lint rules', () => {
  let root = '';
  const found = new Map<string, (string | null)[]>();

  before(async () => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-lint-')));
    for (const folder of ['crds', 'api', 'test']) mkdirSync(path.join(root, folder));
    copyFileSync('tsconfig.json', path.join(root, 'tsconfig.json'));
    writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
    symlinkSync(realpathSync('node_modules'), path.join(root, 'node_modules'));
    for (const [file, text] of [...refused, ...accepted]) writeFileSync(path.join(root, file), `${text}\n`);
    const eslint = new ESLint({ cwd: root, overrideConfigFile: path.resolve('.config/eslint.js') });
    for (const result of await eslint.lintFiles(['.'])) {
      found.set(
        path.relative(root, result.filePath),
        result.messages.map((message) => message.ruleId),
      );
    }
  });
  after(() => {
    rmSync(root, { recursive: true });
  });

  for (const [file, text, rule] of refused) {
    it(`refuse ${text.split('\n')[0] ?? ''} in ${file} (${rule})`, () => {
      expect(found.get(file)).to.include(rule);
    });
  }

  for (const [file, text] of accepted) {
    it(`accept ${text.split('\n').at(-1) ?? ''} in ${file}`, () => {
      expect(found.get(file)).to.deep.equal([]);
    });
  }
});

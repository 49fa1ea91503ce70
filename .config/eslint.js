// The lint rules. What STYLE demands is an error here, with the sentence a person reads; what is off has its reason.
// Run by `make check`; a single file: npx eslint -c .config/eslint.js api/problem.ts
import js from '@eslint/js';
import { builtinModules } from 'node:module';
import tseslint from 'typescript-eslint';
import { docOnExport } from './eslint-doc-on-export.js';

const product = ['crds/**/*.ts', 'api/**/*.{ts,tsx}', 'operator/**/*.ts', 'program/**/*.ts', 'dev/**/*.ts'];

/** Syntax that is refused everywhere. */
const nowhere = [
  {
    selector: 'ExportDefaultDeclaration',
    message: 'Export by name: a default export has another name in every importer.',
  },
  { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that has the code.' },
  { selector: 'ExportNamedDeclaration[source]', message: 'No barrels: import from the file that has the code.' },
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals: Node runs erasable syntax only.' },
];

/** Syntax that is refused in the product and allowed in tests. */
const notInProduct = [
  {
    selector: 'ImportDeclaration[specifiers.length=0]',
    message: 'No import for its side effects: only main.ts starts anything.',
  },
  {
    selector: 'CallExpression[callee.object.name="Math"][callee.property.name="random"]',
    message: 'Chance comes in as a parameter, and anything secret from node:crypto.',
  },
];

/** One file a program reads the environment, once (config.ts). */
const environment = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'Only a config.ts reads the environment; pass the setting in.',
  },
  {
    selector: 'ImportDeclaration[source.value="node:process"] ImportSpecifier[imported.name="env"]',
    message: 'Only a config.ts reads the environment; pass the setting in.',
  },
];

export default tseslint.config(
  { ignores: ['node_modules/**', 'dist/**', 'coverage/**', '**/.boxgate/**', 'examples/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // What STYLE demands.
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { requireDefaultForNonUnion: true, considerDefaultExhaustiveForUnions: false },
      ],
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      'max-lines': ['error', { max: 350 }],
      'no-restricted-syntax': ['error', ...nowhere],
      'no-restricted-imports': [
        'error',
        {
          paths: builtinModules
            .filter((name) => !name.startsWith('node:'))
            .map((name) => ({ name, message: `Write node:${name}.` })),
        },
      ],
      'no-console': 'error',
      eqeqeq: 'error',
      'object-shorthand': 'error',
      'prefer-template': 'error',

      // Numbers and booleans print as everybody expects; the rest would print [object Object].
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowAny: false, allowNullish: false, allowRegExp: false },
      ],
      // Prettier wraps code and leaves comments alone.
      'max-len': ['error', { code: 1000, comments: 120, ignoreUrls: true }],
      // `_request` documents an argument that the interface demands and nobody needs.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A numeric id as a key of a plain object is fine: keys are strings.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Off: the shapes of a standard (snake_case rows, header names) are records with index signatures on purpose.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      // Off: tsconfig's noPropertyAccessFromIndexSignature demands the brackets that this rule removes.
      '@typescript-eslint/dot-notation': 'off',
      // Off: `() => void | Promise<void>` is what a callback that may or may not be asynchronous returns.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Off: there are no enums, and comparing classes with what is assigned to them costs half of the whole run.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Off: an interface that is implemented asynchronously elsewhere has async methods without await.
      '@typescript-eslint/require-await': 'off',
      // Off: `type` and `interface` are both good; unions need the one, objects read better with the other.
      '@typescript-eslint/consistent-type-definitions': 'off',
    },
  },
  {
    files: product,
    plugins: { boxgate: { rules: { 'doc-on-export': docOnExport } } },
    rules: {
      'boxgate/doc-on-export': 'error',
      // Counts the functions inside a function too: a create…() that returns an object is as long as its methods.
      'max-lines-per-function': ['error', { max: 90, skipBlankLines: true, skipComments: true }],
      // Values that travel together are an object with the name of what they are.
      '@typescript-eslint/max-params': ['error', { max: 4, countVoidThis: true }],
      'no-restricted-syntax': ['error', ...nowhere, ...notInProduct, ...environment],
    },
  },
  {
    // main.ts hands the environment to config.ts, which reads it.
    files: ['**/config.ts', '**/main.{ts,tsx}'],
    rules: { 'no-restricted-syntax': ['error', ...nowhere, ...notInProduct] },
  },
  {
    files: ['test/**/*.ts', 'tools/**/*.ts'],
    rules: {
      // Off: `expect(x).to.be.true` is a property access that asserts.
      '@typescript-eslint/no-unused-expressions': 'off',
      // A table of cases is data.
      'max-lines': ['error', { max: 400 }],
      // Off: a table of cases and the describe around it are one long function.
      'max-lines-per-function': 'off',
    },
  },
  {
    // The tools' own settings: plain JavaScript, CommonJS where the tool demands it.
    files: ['**/*.cjs', '**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        require: 'readonly',
        module: 'readonly',
        process: 'readonly',
        __dirname: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
);

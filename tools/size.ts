// `make size`: prints the size of the code: lines, files, stored functions, pages.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const product = ['crds', 'api', 'operator', 'dev', 'program'];
/** Files with fewer lines than this, which one other file imports, are small. */
const small = 60;

/** A file of the tree: its path and its text. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const productFiles = sources(product, /\.(?:tsx?|cjs|sql)$/);
const code = productFiles.map(codeAndComments);
const codeLines = sum(code.map((lines) => lines.code));
const commentLines = sum(code.map((lines) => lines.comment));
const statements = sources(['api'], /\.sql$/);
const schema = readFileSync('test/db/schema.txt', 'utf8').split('\n');
const decisions = sources(['docs/maintainers/decisions'], /\d.*\.md$/);
const pages = sources(['docs'], /\.md$/).filter(({ path }) => !path.startsWith('docs/maintainers/decisions/'));

const rows: readonly (readonly [string, number | string])[] = [
  ['product, lines of code (neither blank nor comment)', codeLines],
  ['product, comment lines', `${String(Math.round((100 * commentLines) / (codeLines + commentLines)))} %`],
  ['product, files', productFiles.length],
  ['SQL files, lines', sum(statements.map(({ text }) => lineCount(text)))],
  ['stored functions', schema.filter((line) => line.startsWith('function ')).length],
  ['stored functions, SECURITY DEFINER', schema.filter((line) => /^ {2}\w+ \w+, security definer/.test(line)).length],
  [`files with one importer and fewer than ${String(small)} lines`, smallFilesWithOneImporter().length],
  ['tests, lines', sum(sources(['test'], /\.tsx?$/).map(({ text }) => lineCount(text)))],
  ['tools, lines', sum(sources(['tools'], /\.tsx?$/).map(({ text }) => lineCount(text)))],
  ['docs without decisions, words', sum(pages.map(({ text }) => text.split(/\s+/).filter(Boolean).length))],
  ['decisions', decisions.length],
];
for (const [what, value] of rows) process.stdout.write(`${String(value).padStart(7)}  ${what}\n`);

/** Reads the files that git tracks in some folders. */
function sources(folders: readonly string[], name: RegExp): readonly SourceFile[] {
  return execFileSync('git', ['ls-files', '-z', '--', ...folders], { encoding: 'utf8' })
    .split('\0')
    .filter((path) => name.test(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** Counts the lines that hold code, and those that hold a comment and no code. */
function codeAndComments({ path, text }: SourceFile): { code: number; comment: number } {
  const written = text.split('\n').filter((line) => line.trim() !== '').length;
  const lines = path.endsWith('.sql') ? sqlCodeLines(text) : scriptCodeLines(path, text);
  return { code: lines, comment: written - lines };
}

function sqlCodeLines(text: string): number {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n');
  return bare.filter((line) => line.trim() !== '' && !line.trim().startsWith('--')).length;
}

/** Counts the lines that a token of TypeScript touches. A token of several lines, such as a template, counts each. */
function scriptCodeLines(path: string, text: string): number {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const touched = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    children.forEach(visit);
    if (children.length > 0 || node.getEnd() === node.getStart(file)) return;
    const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = file.getLineAndCharacterOfPosition(node.getStart(file)).line; line <= last; line++) {
      touched.add(line);
    }
  };
  visit(file);
  return touched.size;
}

/** Returns the small files of the product that one other file imports. */
function smallFilesWithOneImporter(): readonly string[] {
  const importers = new Map<string, Set<string>>();
  for (const { path, text } of sources([...product, 'tools'], /\.tsx?$/)) {
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const target = normalize(join(dirname(path), fileName));
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  return productFiles
    .filter(({ path, text }) => importers.get(path)?.size === 1 && lineCount(text) < small)
    .map(({ path }) => path);
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

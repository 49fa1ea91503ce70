import { readFileSync } from 'node:fs';
import type { Change } from './mutant-tables.ts';

/** A file that a mutant can change. */
export interface Source {
  readonly file: string;
  readonly lines: readonly string[];
}

/** Reads the product's code from these files, wherever it is: TypeScript, JSX, JavaScript and SQL that is no test. */
export function readSources(files: readonly string[]): Source[] {
  const code = files.filter((file) => /\.(?:tsx?|cjs|sql)$/.test(file) && !isTest(file)).sort();
  return code.map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n') }));
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.split('/').includes('test');
}

/**
 * Makes the changes. Returns the new text of each changed file by its path. Throws if a text to find does not occur
 * exactly once, if a change changes nothing, or if two changes overlap.
 */
export function changedFiles(sources: readonly Source[], changes: readonly Change[]): Map<string, string> {
  const edits = changes.map((change) => editOf(sources, change)).sort((a, b) => b.start - a.start);
  const texts = new Map<Source, string[]>();
  let last: Edit | undefined;
  for (const edit of edits) {
    if (last?.source === edit.source && edit.end > last.start) throw new Error('two changes overlap');
    const lines = texts.get(edit.source) ?? [...edit.source.lines];
    lines.splice(edit.start, edit.end - edit.start, ...edit.lines);
    texts.set(edit.source, lines);
    last = edit;
  }
  return new Map([...texts].map(([{ file }, lines]) => [file, lines.join('\n')]));
}

/** New lines for those from `start` to before `end`. */
interface Edit {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

function editOf(sources: readonly Source[], { find, replace }: Change): Edit {
  const wanted = linesOf(find);
  if (find === replace) throw new Error(`a change must change something:\n${find}`);
  const [place, another] = sources.flatMap((source) => placesIn(source, wanted));
  if (place === undefined) throw new Error(`this text does not occur in the code:\n${find}`);
  if (another !== undefined) throw new Error(`${nameOf(place)} and ${nameOf(another)} have the same text:\n${find}`);
  const { source, start, indent } = place;
  const lines = linesOf(replace).map((line) => indented(line, indent));
  return { source, start, end: start + wanted.length, lines };
}

interface Place {
  readonly source: Source;
  readonly start: number;
  readonly indent: string;
}

const nameOf = ({ source, start }: Place): string => `${source.file}:${start + 1}`;

/** The lines occur at any indentation, which is the same for all of them. */
function placesIn(source: Source, wanted: readonly string[]): Place[] {
  const [first = ''] = wanted;
  return source.lines.flatMap((line, start) => {
    const indent = line.slice(0, line.length - first.length);
    if (first === '' || !line.endsWith(first) || indent.trim() !== '') return [];
    const isHere = wanted.every((one, n) => source.lines[start + n] === indented(one, indent));
    return isHere ? [{ source, start, indent }] : [];
  });
}

const indented = (line: string, indent: string): string => (line === '' ? '' : `${indent}${line}`);

/** An empty text has no lines. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

import { Composer, LineCounter, Parser, Scalar, isScalar, visit, type Document } from 'yaml';
import { kubectlWords, plainName } from '../../../crds/yaml-words.ts';

/** One document of a YAML file. */
export interface YamlDocument {
  /** Plain data. */
  readonly content: unknown;
  /** Line of the file at which it begins, from 1. */
  readonly line: number;
}

/** A fault of a text: `line` from 1, and a sentence fragment that never shows a value of it. */
export class Unreadable extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Far above the number of aliases that a person writes, far below that of a bomb. */
const mostAliases = 100;

/**
 * Yields the documents of a file (JSON is YAML). Unquoted words mean the same as to kubectl. Throws Unreadable, at the
 * latest for the document that has the fault.
 */
export function* yamlDocuments(text: string): Generator<YamlDocument, void> {
  const counter = new LineCounter();
  try {
    for (const document of documentsOf(text, counter)) {
      const line = counter.linePos(firstOffset(document)).line;
      yield { content: valueOf(document, line, counter), line };
    }
  } catch (error) {
    if (error instanceof RangeError) throw new Unreadable(1, 'nests too deep to be read');
    throw error;
  }
}

/** Parses one document at a time: the syntax tree of a large file would take a hundred times its size. */
function documentsOf(text: string, counter: LineCounter): Iterable<Document> {
  const parser = new Parser(counter.addNewLine);
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    customTags: kubectlWords,
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    merge: true,
    resolveKnownTags: false,
  });
  return composer.compose(parser.parse(text));
}

function firstOffset(document: Document): number {
  return document.contents?.range?.[0] ?? document.range?.[0] ?? 0;
}

/** Removes the text of the file from a message of the library, which quotes tags, headers and escape sequences. */
function withoutValue(message: string): string {
  return message.replace(/: [^]*$|(?<=escape sequence|directive|version) [^]*$/, '');
}

function valueOf(document: Document, line: number, counter: LineCounter): unknown {
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw new Unreadable(counter.linePos(problem.pos[0]).line, lowerFirst(withoutValue(problem.message)));
  nameAsKubectl(document);
  try {
    return document.toJS({ maxAliasCount: mostAliases });
  } catch (error) {
    if (error instanceof ReferenceError) throw new Unreadable(line, 'repeats itself too often through aliases');
    if (error instanceof Error && error.message.startsWith('Merge sources'))
      throw new Unreadable(line, 'has a merge key (<<) of what is no mapping: name one by an alias');
    throw error;
  }
}

/** Replaces names by those that kubectl reads: the library takes every name as written (`stringKeys`). */
function nameAsKubectl(document: Document): void {
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.type === Scalar.PLAIN && key.source !== undefined) key.value = plainName(key.source);
    },
  });
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

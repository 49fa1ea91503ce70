import type { Document, Node, CST } from 'yaml';
import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, Scalar } from 'yaml';
import { memberPath } from '../../../crds/path.ts';
import { DEEPEST } from '../../../crds/text.ts';
import { kubectlWords, plainName } from '../../../crds/yaml-words.ts';
import { Problem } from '../../problem.ts';
import { losesDigits } from '../../read-json.ts';

/**
 * Maximum parts (names, values, signs, blanks) and lines of a text: reading more would delay everybody else (C-05:
 * 10,000 parts take some 25 ms, a megabyte in a single text less; two hundred thousand of its lines took 100 ms).
 */
const mostParts = 10_000;
const mostLines = 20_000;

/**
 * Reads one YAML document as plain data; unquoted words mean the same as in kubectl. Throws Problem `not-parsable` for
 * invalid YAML or too deep nesting, and `invalid` for YAML features that a resource does not need: aliases (which can
 * expand a few bytes to gigabytes), tags, merge keys, several documents, a repeated name.
 */
export function readYaml(text: string): unknown {
  refuseManyLines(text);
  const lines = new LineCounter();
  const composer = new Composer({
    schema: 'core',
    customTags: kubectlWords,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const documents = [...composer.compose(tokensOf(text, lines), true, text.length)];
  const [document] = documents;
  if (document === undefined) return null;
  if (documents.length > 1) throw new Problem('invalid', 'The body must be one YAML document, not several');
  refuseErrors(document, lines);
  return new Reading(lines).valueOf(document.contents, '');
}

function refuseManyLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  if (lines > mostLines) {
    throw new Problem('invalid', `The body has more than ${String(mostLines)} lines: send it as JSON`);
  }
}

/** Reads the tokens and bounds their depth with the parser, which keeps a list: the composer after it recurses. */
function tokensOf(text: string, lines: LineCounter): CST.Token[] {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let parts = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    parts += 1;
    if (parts > mostParts) {
      throw new Problem('invalid', `The body has more than ${String(mostParts)} parts: send it as JSON`);
    }
    // The document itself and a scalar take a place each.
    if (parser.stack.length > DEEPEST + 2) {
      throw new Problem('not-parsable', `The body nests deeper than ${String(DEEPEST)} levels`);
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** Throws Problem for the first error, with its place and kind, never the text: the library's messages quote it. */
function refuseErrors(document: Document, lines: LineCounter): void {
  const [error] = document.errors;
  if (error !== undefined) {
    const sort = error.code.toLowerCase().replaceAll('_', ' ');
    throw new Problem('not-parsable', `The body is not valid YAML: ${sort} at ${placeOf(error.pos[0], lines)}`);
  }
  const [warning] = document.warnings;
  if (warning === undefined) return;
  const what =
    warning.code === 'TAG_RESOLVE_FAILED' ? 'a tag (!…) that is not accepted' : 'a directive that is not accepted';
  throw new Problem('invalid', `The body has ${what} at ${placeOf(warning.pos[0], lines)}`);
}

function placeOf(offset: number, lines: LineCounter): string {
  const { line, col } = lines.linePos(offset);
  return `line ${String(line)}, column ${String(col)}`;
}

/** Turns the nodes of a document into plain data. */
class Reading {
  readonly #lines: LineCounter;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  valueOf(node: unknown, path: string): unknown {
    if (node === null || node === undefined) return null;
    if (isNode(node) && isForeignTag(node))
      throw this.#refused(node, path, 'must not have a tag (!…) but plain values');
    if (isAlias(node)) throw this.#refused(node, path, 'must not be an alias (*…): write the value out');
    if (isMap(node)) return this.#object(node.items, path);
    if (isSeq(node)) return node.items.map((item, index) => this.valueOf(item, memberPath(path, String(index), true)));
    if (isScalar(node)) return this.#scalar(node, path);
    throw new TypeError('a node of an unknown kind');
  }

  #object(pairs: readonly { readonly key: unknown; readonly value: unknown }[], path: string): Record<string, unknown> {
    const members = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      const name = this.#name(key, path);
      const place = memberPath(path, name, false);
      if (members.has(name)) throw this.#refused(key, place, 'must not be given twice');
      members.set(name, this.valueOf(value, place));
    }
    // fromEntries defines own members, whatever their name.
    return Object.fromEntries(members);
  }

  #name(key: unknown, path: string): string {
    if (!isScalar(key)) throw this.#refused(key, path, 'must have plain names: another one stands there');
    const isPlain = key.type === Scalar.PLAIN;
    if (isPlain && key.value === '<<')
      throw this.#refused(key, path, 'must not use a merge key (<<): write the fields out');
    if (isPlain && key.source !== undefined && key.source !== '') return plainName(key.source);
    if (typeof key.value === 'string') return key.value;
    throw this.#refused(key, path, 'must have plain names: one is missing');
  }

  #scalar(scalar: Scalar, path: string): unknown {
    const { value, source } = scalar;
    if (path === 'secret' && (typeof value === 'number' || typeof value === 'boolean')) {
      throw this.#refused(scalar, path, 'must be a string: quote it ("…"), or YAML takes it for a number or a boolean');
    }
    if (
      typeof value === 'number' &&
      losesDigits(source !== undefined && /^[-+]?[0-9_]+$/.test(source) ? source.replaceAll('_', '') : String(value))
    ) {
      throw this.#refused(scalar, path, 'must be a number of up to 15 digits, or a string');
    }
    return value;
  }

  #refused(node: unknown, path: string, message: string): Problem {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    const place = offset === undefined ? '' : ` (${placeOf(offset, this.#lines)})`;
    return new Problem('invalid', [{ path, message: `${message}${place}` }]);
  }
}

/** Checks for tags beyond JSON's types: the library knows more, such as `!!binary` and `!!set`, whatever the schema. */
function isForeignTag(node: Node): boolean {
  return (
    !isAlias(node) &&
    node.tag !== undefined &&
    !/^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/.test(node.tag)
  );
}

function isNode(value: unknown): value is Node {
  return isAlias(value) || isMap(value) || isSeq(value) || isScalar(value);
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isObject } from '../../crds/path.ts';
import type { DeclaredResource } from './api.ts';

/**
 * Returns the code blocks of a language below a heading of a page of docs/, in their order; a block without a language
 * has ''. A section includes those of lower levels. Throws if there is no such block.
 */
export function blocksOf(page: string, heading: string, language: string): readonly string[] {
  const section = sectionOf(readFileSync(`docs/${page}`, 'utf8'), heading);
  const blocks = [...section.matchAll(/^```(.*)\n([^]*?)^```$/gm)]
    .filter(([, own]) => own === language)
    .map(([, , block = '']) => block);
  if (blocks.length === 0) throw new Error(`docs/${page} has no block of "${language}" below "${heading}"`);
  return blocks;
}

/** Returns the text from a heading to the next one of the same or a higher level; '' if there is no such heading. */
function sectionOf(text: string, heading: string): string {
  for (const level of ['##', '###']) {
    const [, section] = text.split(`\n${level} ${heading}\n`);
    if (section !== undefined) return section.split(new RegExp(`^#{2,${String(level.length)}} `, 'm'))[0] ?? '';
  }
  return '';
}

/** Returns a text in which each of some parts is replaced by another. Throws if a part is not there. */
export function replaced(text: string, parts: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [part, by] of Object.entries(parts)) {
    if (!result.includes(part)) throw new Error(`the text has no ${part}`);
    // A text may have a `$`, which a replacement string would read as a pattern.
    result = result.replaceAll(part, () => by);
  }
  return result;
}

/** Returns the Client of a manifest for the management port, with a secret where the operator would generate one. */
export function clientOf(manifest: string, secret?: string): DeclaredResource {
  const object: unknown = parse(manifest);
  if (!isObject(object) || !isObject(object['metadata']) || !isObject(object['spec'])) throw new TypeError(manifest);
  const { generateSecret, ...spec } = object['spec'];
  const own = generateSecret === undefined ? {} : { secret };
  return { kind: 'Client', id: String(object['metadata']['name']), ...spec, ...own };
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isObject } from '../../crds/json-value.ts';
import type { DeclaredResource } from '../support/api.ts';

/** Returns the code blocks of a language below a heading of a page of docs/, in their order. Throws if there is none. */
export function blocksOf(page: string, heading: string, language: string): readonly string[] {
  const text = readFileSync(`docs/${page}`, 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const blocks = [...own.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
  if (blocks.length === 0) throw new Error(`docs/${page} has no ${language} below "${heading}"`);
  return blocks;
}

/** Returns a text in which each of some parts is replaced by another. Throws if a part is not there. */
export function replaced(text: string, parts: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [part, by] of Object.entries(parts)) {
    if (!result.includes(part)) throw new Error(`the text has no ${part}`);
    result = result.replaceAll(part, by);
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

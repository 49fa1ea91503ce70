import Negotiator from 'negotiator';
import { Problem } from '../../problem.ts';
import type { Turn } from '../../../program/scheduling.ts';
import type { Answer } from '../server/send.ts';
import type { ResourceAnswer } from '../resources/resource-exchange.ts';
import { jsonPage, writeInSlices, yamlPage } from './long-page.ts';
import type { PageForm } from './long-page.ts';

/** The formats of answers; the first is the default. */
const offered = ['application/json', 'application/yaml', 'text/yaml', 'application/x-yaml'] as const;

/** A media type that answers can have. */
export type Format = (typeof offered)[number];

/**
 * Returns the format that an Accept header prefers (RFC 9110 §12.5.1). Media types match without their parameters, and
 * `*` is all of them, as Java sends it. Throws Problem `not-acceptable` for none.
 */
export function negotiate(header: string | undefined): Format {
  const accept = header?.replace(parameter, '').replace(anything, '*/*') ?? '';
  if (accept.trim() === '') return 'application/json';
  const [wanted] = new Negotiator({ headers: { accept } }).mediaTypes([...offered]);
  const format = offered.find((one) => one === wanted);
  if (format === undefined) throw new Problem('not-acceptable', `Accept must allow one of ${offered.join(', ')}`);
  return format;
}

/** A parameter of a media type, but its weight. */
const parameter = /;[ \t]*(?!q[ \t]*=)[\w-]+[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,"]*)/gi;
const anything = /(?<![^\s,])\*(?![^\s,;])/g;

/** Writes an answer in a format; `Vary` tells caches that it depends on Accept. */
export function render(answer: ResourceAnswer, format: Format): Answer & { readonly body?: string | undefined } {
  const { body } = answer;
  if (body === undefined) return withText(answer, format, undefined);
  return withText(answer, format, formOf(format).whole(body));
}

/** Writes an answer like {@link render}; a page in slices, so that other requests are served meanwhile. */
export async function renderInTurns(answer: ResourceAnswer, format: Format, turn: Turn): Promise<Answer> {
  if (answer.page === undefined) return render(answer, format);
  return withText(answer, format, await writeInSlices(answer.page, formOf(format), turn));
}

function formOf(format: Format): PageForm {
  return format === 'application/json' ? jsonPage : yamlPage;
}

/**
 * Returns a condition of a request (If-Match, If-None-Match) with the entity tags of versions in place of those of
 * representations. A strong tag names one representation (RFC 9110 §8.8.3), so a read in one format does not match the
 * tag of the other; for a write the tag means the version, whichever format it was read in.
 */
export function versionTags(condition: string | undefined, isRead: boolean, format: Format): string | undefined {
  return condition?.replace(/"([^"]*)"/g, (tag, text: string) => {
    const isYaml = text.endsWith(YAML_TAG);
    if (isRead && isYaml !== (format !== 'application/json')) return '"-"';
    return isYaml ? `"${text.slice(0, -YAML_TAG.length)}"` : tag;
  });
}

/** Ends the entity tag of a YAML representation. */
const YAML_TAG = '-yaml';

function representationTag(tag: string, format: Format): string {
  return format === 'application/json' ? tag : tag.replace(/"$/, `${YAML_TAG}"`);
}

function withText<Text extends Answer['body']>(
  { status, headers }: ResourceAnswer,
  format: Format,
  text: Text,
): Answer & { readonly body?: Text } {
  const { ETag } = headers ?? {};
  const varied = { ...headers, ...(ETag && { ETag: representationTag(ETag, format) }), Vary: 'Accept' };
  if (text === undefined) return { status, headers: varied };
  return { status, headers: varied, contentType: `${format}; charset=utf-8`, body: text };
}

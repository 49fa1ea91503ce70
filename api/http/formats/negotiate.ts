import Negotiator from 'negotiator';
import { Problem } from '../../problem.ts';
import { createTurns } from '../../../program/scheduling.ts';
import { writeYaml } from './write-yaml.ts';
import type { Answer } from '../server/send.ts';
import type { ListPage, ResourceAnswer } from '../resources/resource-exchange.ts';

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

/** An answer whose body is text. */
type TextAnswer = Answer & { readonly body?: string | undefined };

/** Writes an answer in a format; `Vary` tells caches that it depends on Accept. */
export function render(answer: ResourceAnswer, format: Format): TextAnswer {
  const { body } = answer;
  if (body === undefined) return withText(answer, format, undefined);
  return withText(answer, format, formOf(format).whole(body));
}

/** Writes an answer like {@link render}, or the page that it has. */
export async function renderAnswer(answer: ResourceAnswer, format: Format): Promise<TextAnswer> {
  if (answer.page === undefined) return render(answer, format);
  return withText(answer, format, await pageText(answer.page, formOf(format)));
}

/**
 * Writes a page record by record, while other requests are served: a thousand records take 10 to 25 ms (measured).
 */
async function pageText({ bundle, items }: ListPage, form: PageForm): Promise<string> {
  const isEntry = bundle !== undefined;
  const turn = createTurns();
  const parts: string[] = [];
  for (let next = items.next(); next.done !== true; next = items.next()) {
    parts.push(form.item(next.value, { isFirst: parts.length === 0, isEntry }));
    await turn();
  }
  if (parts.length === 0) return form.whole(isEntry ? { ...bundle, entry: [] } : []);
  return [form.head(bundle), ...parts, form.tail(isEntry)].join('');
}

/** The syntax of a format: of a whole body, and of the parts of a page one after the other. */
interface PageForm {
  /** Writes a body that is not a page, or has no items. */
  whole(body: unknown): string;
  /** Writes the part before the items: `bundle` has everything but them, undefined for a list. */
  head(bundle: object | undefined): string;
  item(item: unknown, place: { readonly isFirst: boolean; readonly isEntry: boolean }): string;
  /** Writes the part after the items. */
  tail(isBundle: boolean): string;
}

function formOf(format: Format): PageForm {
  return format === 'application/json' ? jsonPage : yamlPage;
}

/** YAML, in blocks. */
const yamlPage: PageForm = {
  whole: (body) => writeYaml(body),
  head: (bundle) => (bundle === undefined ? '' : `${writeYaml(bundle)}entry:\n`),
  item: (item, { isEntry }) => (isEntry ? `  ${writeYaml([item], '  ')}` : writeYaml([item])),
  tail: () => '',
};

/** JSON, without white space. */
const jsonPage: PageForm = {
  whole: (body) => JSON.stringify(body),
  head: (bundle) => (bundle === undefined ? '[' : `${JSON.stringify(bundle).slice(0, -1)},"entry":[`),
  item: (item, { isFirst }) => (isFirst ? JSON.stringify(item) : `,${JSON.stringify(item)}`),
  tail: (isBundle) => (isBundle ? ']}' : ']'),
};

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

function withText({ status, headers }: ResourceAnswer, format: Format, text: string | undefined): TextAnswer {
  const { ETag } = headers ?? {};
  const varied = { ...headers, ...(ETag && { ETag: representationTag(ETag, format) }), Vary: 'Accept' };
  if (text === undefined) return { status, headers: varied };
  return { status, headers: varied, contentType: `${format}; charset=utf-8`, body: text };
}

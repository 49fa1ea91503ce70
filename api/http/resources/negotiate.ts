import Negotiator from 'negotiator';
import { stringify } from 'yaml';
import { Problem } from '../../problem.ts';
import type { Answer } from '../send.ts';
import type { ResourceAnswer } from './resource-exchange.ts';

/** The formats of answers; the first is what a caller gets who does not ask. */
const offered = ['application/json', 'application/yaml', 'text/yaml', 'application/x-yaml'] as const;

/** A media type that answers can have. */
export type Format = (typeof offered)[number];

/** The format that an Accept header prefers (RFC 9110 §12.5.1). Throws Problem `not-acceptable` when it takes none. */
export function negotiate(accept: string | undefined): Format {
  if (accept === undefined) return 'application/json';
  const [wanted] = new Negotiator({ headers: { accept } }).mediaTypes([...offered]);
  const format = offered.find((one) => one === wanted);
  if (format === undefined) throw new Problem('not-acceptable', `Accept must allow one of ${offered.join(', ')}`);
  return format;
}

/** Writes an answer out in a format; caches are told that it depends on Accept. */
export function render({ status, headers, body }: ResourceAnswer, format: Format): Answer {
  const varied = { ...headers, Vary: 'Accept' };
  if (body === undefined) return { status, headers: varied };
  const text = format === 'application/json' ? JSON.stringify(body) : yamlOf(body);
  return { status, headers: varied, contentType: `${format}; charset=utf-8`, body: text };
}

/** Every string is quoted that a reader of YAML 1.1 or 1.2 could take for something else; nothing is folded or aliased. */
function yamlOf(body: unknown): string {
  return stringify(body, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

import { MIMEType } from 'node:util';
import { Problem } from '../../problem.ts';

/** The syntax and the meaning of a body. */
export interface BodyFormat {
  readonly syntax: 'json' | 'yaml';
  /** A plain document; as the body of a PATCH it is a merge patch (RFC 7396). */
  readonly meaning: 'document' | 'merge-patch' | 'json-patch';
}

const formats: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', { syntax: 'json', meaning: 'document' }],
  ['application/yaml', { syntax: 'yaml', meaning: 'document' }],
  ['application/x-yaml', { syntax: 'yaml', meaning: 'document' }],
  ['text/yaml', { syntax: 'yaml', meaning: 'document' }],
  ['application/merge-patch+json', { syntax: 'json', meaning: 'merge-patch' }],
  ['application/json-patch+json', { syntax: 'json', meaning: 'json-patch' }],
]);

/**
 * Returns the format that a Content-Type names. Throws Problem `unsupported-media-type` for an unknown or missing one
 * and for a charset that is not UTF-8; its `Accept` header lists the accepted ones (RFC 9110 §15.5.16).
 */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  const type = mediaType(contentType);
  const format = formats.get(type?.essence ?? '');
  if (type === undefined || format === undefined) throw unsupported(`Content-Type must be one of ${knownTypes}`);
  const charset = type.params.get('charset');
  if (charset !== null && !/^utf-?8$/i.test(charset)) throw unsupported('The charset must be utf-8');
  return format;
}

function mediaType(text: string | undefined): MIMEType | undefined {
  if (text === undefined) return undefined;
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

/** The media types that a body may have. */
export const knownTypes = [...formats.keys()].join(', ');

function unsupported(message: string): Problem {
  return new Problem('unsupported-media-type', message, { Accept: knownTypes });
}

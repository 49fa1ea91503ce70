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
 * Returns the format that a Content-Type names in a request with a method. Throws Problem `unsupported-media-type` for an unknown or missing one
 * and for a charset that is not UTF-8; its `Accept` header lists the accepted ones (RFC 9110 §15.5.16).
 */
export function bodyFormat(contentType: string | undefined, method = 'PATCH'): BodyFormat {
  const types = method === 'PATCH' ? patchTypes : documentTypes;
  const type = mediaType(contentType);
  const format = formats.get(type?.essence ?? '');
  if (type === undefined || format === undefined || !types.includes(type.essence)) {
    throw unsupported(`Content-Type must be one of ${types.join(', ')}`, types);
  }
  const charset = type.params.get('charset');
  if (charset !== null && !/^utf-?8$/i.test(charset)) throw unsupported('The charset must be utf-8', types);
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

/** The media types of a PATCH; those of a document are the ones of any other body. */
const patchTypes = [...formats.keys()];
const documentTypes = patchTypes.filter((type) => formats.get(type)?.meaning === 'document');

/** `Accept-Patch` is of RFC 5789 §2.2. */
function unsupported(message: string, types: readonly string[]): Problem {
  const accepted = types.join(', ');
  const headers = types === patchTypes ? { Accept: accepted, 'Accept-Patch': accepted } : { Accept: accepted };
  return new Problem('unsupported-media-type', message, headers);
}

import Type, { type TArrayOptions, type TSchema, type TUnsafe } from 'typebox';

/** Ten years: the longest lifetime that any field takes, in seconds. */
export const LONGEST_LIFETIME = 315_360_000;

/** Text of one line: no control character. The same text is a regular expression of JavaScript and of RE2. */
export const ONE_LINE = '^[^\\x00-\\x1f\\x7f]*$';
/** Text of several lines: no control character but tab, line feed and carriage return. */
export const MANY_LINES = '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]*$';
/** Identifier of a Client or an AccessPolicy; at most 128 characters. */
export const RESOURCE_ID = '^[A-Za-z0-9][A-Za-z0-9._~-]*$';
/** Identifier of a user or a group: a number that JSON and JavaScript hold exactly. */
export const NUMBERED_ID = '^[1-9][0-9]{0,14}$';
/** Name of a namespace, and so of a box (RFC 1123 label); at most 63 characters. */
export const DNS_LABEL = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
/** Name of a Kubernetes object (RFC 1123 subdomain); at most 253 characters. */
export const OBJECT_NAME = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$';
/** Identity of a Kubernetes object, nearly always a UUID; at most 128 characters. */
export const OBJECT_UID = '^[A-Za-z0-9._-]+$';
/** Name of a host, or domain of an email address (RFC 1123 §2.1); at most 253 characters. */
export const HOST_NAME = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';
/** The characters of a URI, and whole percent-encodings (RFC 3986 §2). */
export const URI_TEXT = "^([A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$";
/**
 * A web origin as a browser writes it: scheme, host, port, no path (RFC 6454 §6.2). An app in a web view has its own
 * scheme, such as `capacitor://localhost`.
 */
export const WEB_ORIGIN = '^[a-z][a-z0-9+.-]*://(\\[[0-9a-f:.]+\\]|[a-z0-9][a-z0-9.-]*)(:[0-9]{1,5})?$';
/** A moment with its offset (RFC 3339 §5.6). */
export const MOMENT =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$';

/** A scope (RFC 6749 §3.3: scope-token). */
export const SCOPE_TOKEN = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$';

/** Builds the schema of a Boolean. */
export function flag(description: string) {
  return Type.Boolean({ description });
}

/** Builds the schema of a lifetime or period: whole seconds, at least `minimum` (1 by default), at most ten years. */
export function seconds(description: string, minimum = 1) {
  return Type.Integer({ description, minimum, maximum: LONGEST_LIFETIME });
}

/** Builds the schema of a list that its readers do not change. */
export function listOf<Item extends TSchema>(item: Item, options: TArrayOptions = {}) {
  return Type.Immutable(Type.Array(item, options));
}

/** Builds the schema of text on one line that is not empty. */
export function line(description: string, maxLength: number) {
  return Type.String({ description, minLength: 1, maxLength, pattern: ONE_LINE });
}

/** Builds the schema of text of one form; the pattern itself excludes empty text. */
export function word(description: string, maxLength: number, pattern: string) {
  return Type.String({ description, maxLength, pattern });
}

/** Builds the schema of text on several lines, for people; it may be empty. */
export function prose(description: string) {
  return Type.String({ description, maxLength: 4096, pattern: MANY_LINES });
}

/** Builds the schema of an absolute URI; a separate rule restricts its schemes. */
export function uri(description: string) {
  return word(description, 2048, URI_TEXT);
}

/** Builds the schema of a moment in time, RFC 3339 with an offset. */
export function moment(description: string) {
  return Type.String({ description, maxLength: 40, format: 'date-time', pattern: MOMENT });
}

/** Builds the schema of a JSON object whose members the author chooses. */
export function freeObject(description: string): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    description,
    type: 'object',
    maxProperties: 1000,
    'x-kubernetes-preserve-unknown-fields': true,
  });
}

import type { Random } from '../support/random.ts';

/**
 * Redirect URIs that a client may have configured: https, loopback, a private-use scheme; with path, query and escapes.
 */
export const configuredUris = [
  'https://app.example/back',
  'https://app.example/',
  'https://app.example:8443/a/b%20c?x=1&y=%C3%BC',
  'https://xn--bcher-kva.example/back?next=/home',
  'http://127.0.0.1/back',
  'http://[::1]/back?x',
  'com.example.app:/back',
] as const;

type Change = (uri: string, random: Random) => string;

const inserted = [
  '/',
  '//',
  '/./',
  '/../',
  '%2e%2e/',
  '..;/',
  '\\',
  '@',
  '@@',
  '?',
  '#',
  '?x',
  '#x',
  '&',
  ';',
  ':',
  ':443',
  ':80',
];
const blanks = ['\t', '\n', '\r', ' ', '\u00a0', '\u200b', '\0', '%00', '%0d%0a', '%09', '\u2028', '\ufeff'];
const lookalikes: readonly (readonly [from: RegExp, to: string])[] = [
  [/a/, '\u0430'],
  [/e/, '\uff45'],
  [/\./, '\u3002'],
  [/\./, '\uff0e'],
  [/\//, '\uff0f'],
  [/:/, '\uff1a'],
  [/p/, '\u0440'],
  [/1/, '\u2460'],
];
const places = [
  'evil.example',
  'localhost',
  '127.1',
  '0x7f.1',
  '2130706433',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:0:0:1]',
  '127.0.0.2',
];
const schemes = [
  'http:',
  'https:',
  'HTTPS:',
  'javascript:',
  'JavaScript:',
  'data:',
  'file:',
  'ftp:',
  'blob:https:',
  'view-source:https:',
];

/** Changes after which a URL parser mostly reads the same: WHATWG URL, "basic URL parser". */
const sameAfterParsing: readonly Change[] = [
  (uri, random) => uri.replace(/^[^/?#]*/, (text) => mixedCase(text, random)),
  (uri, random) => uri.replace(/^[^:]*:\/\/[^/?#]*/, (text) => mixedCase(text, random)),
  (uri, random) => insertAt(uri, random.below(uri.length + 1), random.pick(['\t', '\n', '\r'])),
  (uri, random) => random.pick([' ', '\t', '\n', '\0', '\u001f']) + uri,
  (uri, random) => uri + random.pick([' ', '\t', '\n', '\0', '\u001f']),
  (uri) => uri.replace(/^(https:\/\/[^/:?#]+)(?=[/?#]|$)/, '$1:443').replace(/^(http:\/\/[^/?#]+)(?=[/?#]|$)/, '$1:80'),
  (uri, random) => uri.replaceAll('/', () => random.pick(['/', '\\'])),
  (uri, random) => uri.replace('://', random.pick([':///', ':', ':/', ':\\\\', ':/\\', ':////'])),
  (uri, random) => atSlash(uri, random, random.pick(['/./', '/x/../', '/%2e/', '/x/%2E%2e/', '/a/b/../../', '/.%2E/'])),
  (uri) => uri.replace('://', '://@'),
  (uri) => uri.replace('://', '://:@'),
  (uri) => uri.replace('127.0.0.1', '127.1').replace('[::1]', '[0:0::1]'),
  (uri) => uri.replace('127.0.0.1', '0x7f000001').replace('[::1]', '[::0.0.0.1]'),
  (uri) => uri.replace('.example', '\u3002example'),
  (uri) => uri.replace('app.example', '\uff41pp.example').replace('xn--bcher-kva', 'b\u00fccher'),
];

const changes: readonly Change[] = [
  (uri, random) => insertAt(uri, random.below(uri.length + 1), pickOf(inserted, random)),
  (uri, random) => insertAt(uri, random.below(uri.length + 1), pickOf(blanks, random)),
  (uri, random) => uri + pickOf(inserted, random),
  (uri, random) => uri.slice(0, random.below(uri.length)),
  (uri, random) => escapeAt(uri, random.below(uri.length)),
  (uri) => encodeURIComponent(uri),
  (uri) => decodeURIComponent(uri),
  (uri, random) => uri.replace(...pickOf(lookalikes, random)),
  (uri, random) => uri.replace(/^[^:]*:/, pickOf(schemes, random)),
  (uri, random) => uri.replace(/^([^:]*:\/*)[^/:?#]+/, `$1${pickOf(places, random)}`),
  (uri, random) => uri.replace(/^([^:]*:\/*)([^/:?#]+)/, `$1$2.${pickOf(places, random)}`),
  (uri, random) => uri.replace(/^([^:]*:\/*)([^/:?#]+)/, `$1$2@${pickOf(places, random)}`),
  (uri, random) => uri.replace(/^([^:]*:\/*)/, `$1${pickOf(places, random)}\\@`),
  (uri, random) => uri.replace(/^([^:]*:\/*[^/:?#]+)/, `$1:${String(random.below(100_000))}`),
  (uri) => uri.normalize('NFD'),
  (uri) => uri.toUpperCase(),
  (uri, random) => `${pickOf(places, random)}/${uri}`,
  (uri) => uri.replace(/^[^:]*:/, ''),
];

/** A text that somebody could send instead of a configured URI: one to three changes of it. Mostly not equal to it. */
export function variantOf(uri: string, random: Random): string {
  // A third is of the kind that parsers do not tell apart.
  if (random.below(3) === 0) return pickOf(sameAfterParsing, random)(uri, random);
  let text = uri;
  for (let left = 1 + random.below(3); left > 0; left -= 1) text = changed(text, random);
  return text;
}

function changed(text: string, random: Random): string {
  try {
    return pickOf([...changes, ...sameAfterParsing], random)(text, random);
  } catch {
    // Half an escape cannot be decoded.
    return text;
  }
}

function pickOf<T>(from: readonly T[], random: Random): T {
  const [first, ...others] = from;
  if (first === undefined) throw new RangeError('nothing to pick from');
  return random.pick([first, ...others]);
}

function insertAt(text: string, at: number, what: string): string {
  return text.slice(0, at) + what + text.slice(at);
}

/** Puts something in the place of one of the slashes of the path. */
function atSlash(uri: string, random: Random, what: string): string {
  const slashes = [...uri.matchAll(/\//g)].map(({ index }) => index).filter((at) => at > uri.indexOf(':') + 2);
  if (slashes.length === 0) return uri;
  const at = pickOf(slashes, random);
  return uri.slice(0, at) + what + uri.slice(at + 1);
}

function escapeAt(uri: string, at: number): string {
  const code = uri.charCodeAt(at).toString(16).padStart(2, '0');
  return `${uri.slice(0, at)}%${code}${uri.slice(at + 1)}`;
}

function mixedCase(text: string, random: Random): string {
  return text.replace(/[a-z]/g, (sign) => (random.below(2) === 0 ? sign.toUpperCase() : sign));
}

import { MOST_PARAMETERS, parameters } from '../request/query.ts';

/** Path and query of an original request, as policies see them. */
export interface OriginalTarget {
  readonly uri: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Returns the path of an original request, decoded once, with dot segments removed and slashes merged (RFC 3986
 * §6.2.2), and its parameters. Returns undefined for a path that software behind the gateway may read in more than one
 * way: with an encoded slash or backslash, a control character, or an escape that is left after decoding.
 */
export function originalTarget(target: string): OriginalTarget | undefined {
  const at = target.indexOf('?');
  const uri = originalPath(at < 0 ? target : target.slice(0, at));
  if (uri === undefined) return undefined;
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at + 1));
  return query.size > MOST_PARAMETERS ? undefined : { uri, params: parameters(query) };
}

function originalPath(path: string): string | undefined {
  if (plain.test(path)) return path;
  if (!visible.test(path) || ambiguous.test(path)) return undefined;
  const decoded = decodedOnce(path);
  if (decoded === undefined || /\p{Cc}/u.test(decoded) || escape.test(decoded)) return undefined;
  // Two readings: with the slashes merged, `..` removes another segment than without.
  if (decoded.includes('//') && /\/\.\.(?:\/|$)/.test(decoded)) return undefined;
  // Many libraries read what follows `//` as a host, and some servers take `/;x/` for `//`.
  if (decoded.startsWith('//') || decoded.includes('/;')) return undefined;
  const segments: string[] = [];
  const parts = decoded.split('/').filter((part, index, all) => part !== '' || index === all.length - 1);
  for (const [index, part] of parts.entries()) {
    // Some servers read `..;x` as `..`.
    if (/^\.\.?;/.test(part)) return undefined;
    const isDots = part === '.' || part === '..';
    if (part === '..') segments.pop();
    if (!isDots) segments.push(part);
    else if (index === parts.length - 1) segments.push('');
  }
  return `/${segments.join('/')}`;
}

/** A path that is already in its normal form; nearly every one is. */
const plain = /^(?:\/(?!\.)[A-Za-z0-9_~.-]+)*\/?$/;
/** Visible ASCII (RFC 3986 §2). */
const visible = /^[\x21-\x7e]*$/;
/** Characters that end a path or a segment for some software and belong to it for others. */
const ambiguous = /[\\#]|%(?:2f|5c|3f|23|00)/i;
const escape = /%[0-9a-f]{2}/i;

function decodedOnce(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

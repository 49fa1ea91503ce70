import { MOST_PARAMETERS, parameters } from '../request/query.ts';

/** Path and query of an original request, as policies see them. */
export interface OriginalTarget {
  readonly uri: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Returns the path of an original request, decoded once, with dot segments removed and slashes merged (RFC 3986
 * §6.2.2), and its parameters. Returns undefined for a target that software behind the gateway may read in more than
 * one way: a path with an encoded slash or backslash, a control character, or an escape that is left after decoding;
 * a query with a character that no URL has, another separator or end, brackets of another form than `name[a][b]`, or
 * two names that may be one parameter or a part of it.
 */
export function originalTarget(target: string): OriginalTarget | undefined {
  const at = target.indexOf('?');
  const uri = originalPath(at < 0 ? target : target.slice(0, at));
  const params = at < 0 ? {} : originalParameters(target.slice(at + 1));
  return uri === undefined || params === undefined ? undefined : { uri, params };
}

/** Returns the parameters of a query that has one reading only; otherwise undefined. */
function originalParameters(query: string): OriginalTarget['params'] | undefined {
  if (!visible.test(query) || ambiguousInQuery.test(query)) return undefined;
  if (query.includes('%') && decodedOnce(query) === undefined) return undefined;
  // Some software counts empty parts too and ignores what follows the last one that it reads.
  if (query.split('&').length > MOST_PARAMETERS) return undefined;
  const params = parameters(new URLSearchParams(query));
  return areApart(Object.keys(params)) ? params : undefined;
}

/** `#` ends a query for some software, `;` ends a parameter, `%00` ends a text; a second `?` is removed by some. */
const ambiguousInQuery = /^\?|[#;]|%00/;

/**
 * Checks whether all common software reads the names alike: brackets only as in `name[a][b]`, and no name may be
 * another one, or a part of its path, for PHP, Rack, ASP.NET or the qs of Express.
 */
function areApart(names: readonly string[]): boolean {
  if (names.every((name) => plainName.test(name))) return true;
  const paths = new Map<string, Step>();
  return names.every((name) => nameForm.test(name) && isApart(name, paths));
}

/** A step of the path of a name. */
interface Step {
  /** As it is written. */
  readonly text: string;
  /** The steps that follow it; undefined: the name ends here. */
  readonly next: Map<string, Step> | undefined;
}

/** Adds the path of a name: `a[b][]` is a, b and an element. Returns false where a path ends within another one. */
function isApart(name: string, paths: Map<string, Step>): boolean {
  const steps = name.split('[');
  let level = paths;
  for (const [index, text] of steps.entries()) {
    const key = index === 0 ? headKey(text) : stepKey(text);
    const found: Step | undefined = level.get(key);
    // An element of a list may have the place of any other step.
    const isBesideElement = level.size > 0 && found === undefined && (key === '' || level.has(''));
    const next = index < steps.length - 1 ? (found?.next ?? new Map<string, Step>()) : undefined;
    if (isBesideElement) return false;
    if (found !== undefined && (found.text !== text || found.next === undefined || next === undefined)) return false;
    level.set(key, { text, next });
    if (next === undefined) return true;
    level = next;
  }
  return true;
}

/** PHP removes leading spaces, and reads other spaces and dots of a name as underscores. ASP.NET ignores case. */
function headKey(head: string): string {
  return head.trimStart().replace(/[ .]/g, '_').toLowerCase();
}

/** PHP removes leading spaces within brackets too. */
function stepKey(step: string): string {
  return step.slice(0, -1).trimStart().toLowerCase();
}

/** A name with brackets, if it has any, in the one form that all software reads alike. */
const nameForm = /^[^[\]]+(?:\[[^[\]]*\])*$/;

/** A name that has one spelling only; nearly every one is. */
const plainName = /^[a-z0-9_-]+$/;

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

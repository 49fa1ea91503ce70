/** Checks whether the path of a URL is text: ASCII (RFC 3986 §2) that decodes as UTF-8 without control characters. */
export function isTextPath(url: string): boolean {
  const path = pathOf(url);
  if (plain.test(path)) return true;
  try {
    return ascii.test(path) && !/\p{Cc}/u.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

const plain = /^[A-Za-z0-9/$._~-]*$/;
const ascii = /^[\x21-\x7e]*$/;

/**
 * Returns a path in its one normal form (RFC 3986 §6.2.2): no needless escapes, upper-case digits in the others, no
 * query. Two spellings of one id are one path to a policy.
 */
export function normalPath(url: string): string {
  const path = pathOf(url);
  if (!path.includes('%')) return path;
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const sign = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(sign) ? sign : escape.toUpperCase();
  });
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}

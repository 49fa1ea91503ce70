import { domainToASCII, domainToUnicode } from 'node:url';

/** Longest email, in characters (RFC 5321 §4.5.3.1.3, less its angle brackets). */
const longest = 254;
const longestLocalPart = 64;

/** Letters of any language and signs that RFC 5322 §3.2.3 allows unquoted; no space, no control, nothing invisible. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** Labels of letters, digits and hyphens of any language (RFC 5891 §4.2.3), joined by full stops. */
const rawDomain = /^(?!-)[\p{L}\p{M}\p{Nd}-]+(?<!-)(?:\.(?!-)[\p{L}\p{M}\p{Nd}-]+(?<!-))*$/u;
/** The same in ASCII (RFC 5321 §4.1.2, §4.5.3.1.2). */
const asciiDomain = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** End of a host that is an IPv4 address, in one of the many forms that URLs allow. */
const numericEnd = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * Returns the normal form of an email, which is stored, shown and compared: without regard to case and to how Unicode
 * writes it (NFKC), the domain in ASCII. Dots and `+…` before the @ are kept: only the domain's own mail server knows
 * their meaning. Undefined when the text is no email.
 */
export function emailKey(email: string): string | undefined {
  if (email.length > longest) return undefined;
  const typed = halfWidth(email);
  const at = typed.lastIndexOf('@');
  const domain = domainKey(typed.slice(at + 1));
  const local = folded(typed.slice(0, Math.max(at, 0)));
  if (domain === undefined || local.length > longestLocalPart || !localPart.test(local)) return undefined;
  const key = `${local}@${domain}`;
  // What is shown must be an email again: a domain of many letters beyond ASCII is longer there.
  return key.length <= longest ? key : undefined;
}

/** Returns a text with ASCII in place of its full-width forms, which a Japanese keyboard writes. */
function halfWidth(text: string): string {
  return text.replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
}

/** Returns a domain in ASCII. Its shape is checked first: the conversion also takes an address, path or line feed. */
function domainKey(text: string): string | undefined {
  const domain = folded(text);
  if (!rawDomain.test(text) || !rawDomain.test(domain) || numericEnd.test(domain)) return undefined;
  const ascii = domainToASCII(domain);
  const isDomain =
    asciiDomain.test(ascii) && !numericEnd.test(ascii) && domainToASCII(domainToUnicode(ascii)) === ascii;
  return isDomain ? ascii : undefined;
}

/** Folds any text in the same way, such as the beginning of an email in a search. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC');
}

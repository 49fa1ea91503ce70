import { domainToASCII, domainToUnicode } from 'node:url';

/** Longest email, in characters (RFC 5321 §4.5.3.1.3, less its angle brackets). */
const longest = 254;
const longestLocalPart = 64;

/** Letters of any language and what RFC 5322 §3.2.3 lets stand unquoted; no blank, no control, no sign that nobody sees. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** Labels of letters, digits and hyphens of any language (RFC 5891 §4.2.3), joined by full stops. */
const rawDomain = /^(?!-)[\p{L}\p{M}\p{Nd}-]+(?<!-)(?:\.(?!-)[\p{L}\p{M}\p{Nd}-]+(?<!-))*$/u;
/** The same in ASCII (RFC 5321 §4.1.2, §4.5.3.1.2). */
const asciiDomain = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** A host that ends so is an IPv4 address, in one of the many forms that URLs allow. */
const numericEnd = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * Returns the normal form of an email, which is stored, shown and compared: without regard to case and to how Unicode writes
 * it (NFKC), the domain in ASCII. Dots and `+…` before the @ count: only the domain's own mail server knows what they mean.
 * Undefined when the text is no email.
 */
export function emailKey(email: string): string | undefined {
  if (email.length > longest) return undefined;
  const at = email.lastIndexOf('@');
  const domain = domainKey(email.slice(at + 1));
  const local = folded(email.slice(0, Math.max(at, 0)));
  const isEmail = domain !== undefined && local.length <= longestLocalPart && localPart.test(local);
  return isEmail ? `${local}@${domain}` : undefined;
}

/** The shape comes first: what writes a domain in ASCII parses URLs, and takes an address, a path or a line feed as well. */
function domainKey(text: string): string | undefined {
  const domain = folded(text);
  if (!rawDomain.test(text) || !rawDomain.test(domain) || numericEnd.test(domain)) return undefined;
  const ascii = domainToASCII(domain);
  const isDomain =
    asciiDomain.test(ascii) && !numericEnd.test(ascii) && domainToASCII(domainToUnicode(ascii)) === ascii;
  return isDomain ? ascii : undefined;
}

/** The same folding for the beginning of an email that is searched for: any text. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC');
}

import { domainToASCII } from 'node:url';

/** Longest email, in characters (RFC 5321 §4.5.3.1.3, less its angle brackets). */
const longest = 254;
const longestLocalPart = 64;

/** Letters of any language and what RFC 5322 §3.2.3 lets stand unquoted; no blank, no sign that nobody sees. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainShape = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * The normal form of an email, by which two are one within a box: without regard to case and to how Unicode writes it
 * (NFKC), the domain in ASCII. Dots and `+…` before the @ count: only the domain's own mail server knows what they mean.
 * Undefined when the text is no email.
 */
export function emailKey(email: string): string | undefined {
  if (email.length > longest) return undefined;
  const normal = folded(email);
  const at = normal.lastIndexOf('@');
  const [local, domain] = [normal.slice(0, Math.max(at, 0)), domainToASCII(normal.slice(at + 1))];
  const isEmail = local.length <= longestLocalPart && localPart.test(local) && domainShape.test(domain);
  return isEmail ? `${local}@${domain}` : undefined;
}

/** The same folding for the beginning of an email that is searched for: any text. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC');
}

import type { Judged } from './judge.ts';

/** The annotation of a Namespace by which an admin lets generated Secrets have labels and annotations of other domains. */
export const SECRET_LABELS_ANNOTATION = 'boxgate.dev/secret-labels';

/**
 * A judged Client whose generated Secret gets only those labels and annotations that the namespace permits, and the names of
 * the others. A key without a domain acts on nothing but people; one with a domain may be an order to another operator. The
 * same where the Secret gets everything.
 */
export function permittedMetadata(judged: Judged, granted: readonly string[]): Judged {
  const { secret } = judged;
  if (secret.from !== 'generated') return judged;
  const isPermitted = (key: string): boolean => !key.includes('/') || granted.some((pattern) => matches(pattern, key));
  const keys = [...Object.keys(secret.labels), ...Object.keys(secret.annotations)];
  const notPermitted = [...new Set(keys.filter((key) => !isPermitted(key)))].sort();
  if (notPermitted.length === 0) return judged;
  const permitted = (texts: Texts): Texts =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => isPermitted(key)));
  const left = { ...secret, labels: permitted(secret.labels), annotations: permitted(secret.annotations) };
  return { ...judged, secret: left, notPermitted, whole: judged };
}

/** The keys that an annotation permits: `example.com/name`, or `example.com/*`; separated by commas or blanks. */
export function grantedMetadata(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((pattern) => pattern !== '');
}

type Texts = Readonly<Record<string, string>>;

/** One domain at a time: `*` alone, or before the slash, permits nothing. */
function matches(pattern: string, key: string): boolean {
  const domain = pattern.endsWith('/*') ? pattern.slice(0, -1) : undefined;
  return domain === undefined || domain === '/' ? pattern === key : key.startsWith(domain);
}

import type { ValidatedObject } from '../desired/validate.ts';

/** Annotation of a Namespace by which an admin permits labels and annotations of other domains in generated Secrets. */
export const SECRET_LABELS_ANNOTATION = 'boxgate.dev/secret-labels';

/**
 * Returns a validated Client whose generated Secret gets only the labels and annotations that the namespace permits,
 * with the names of the others; the same Client if all are permitted. A key without a domain has an effect on people
 * only; one with a domain may be an order to another operator.
 */
export function permittedMetadata(validated: ValidatedObject, granted: readonly string[]): ValidatedObject {
  const { secret } = validated;
  if (secret.from !== 'generated') return validated;
  const isPermitted = (key: string): boolean => !key.includes('/') || granted.some((pattern) => matches(pattern, key));
  const keys = [...Object.keys(secret.labels), ...Object.keys(secret.annotations)];
  const notPermitted = [...new Set(keys.filter((key) => !isPermitted(key)))].sort();
  if (notPermitted.length === 0) return validated;
  const permitted = (texts: Texts): Texts =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => isPermitted(key)));
  const left = { ...secret, labels: permitted(secret.labels), annotations: permitted(secret.annotations) };
  return { ...validated, secret: left, notPermitted, whole: validated };
}

/** Returns the keys that an annotation permits (`example.com/name`, `example.com/*`), separated by commas or blanks. */
export function grantedMetadata(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((pattern) => pattern !== '');
}

type Texts = Readonly<Record<string, string>>;

/** Checks a key against a pattern, one domain at a time: `*` alone, or before the slash, permits nothing. */
function matches(pattern: string, key: string): boolean {
  const domain = pattern.endsWith('/*') ? pattern.slice(0, -1) : undefined;
  return domain === undefined || domain === '/' ? pattern === key : key.startsWith(domain);
}

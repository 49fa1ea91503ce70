import type { ValidatedObject } from '../desired/validate.ts';

/** Annotation of a Namespace by which an admin permits labels and annotations of generated Secrets. */
export const SECRET_METADATA_ANNOTATION = 'boxgate.dev/secret-metadata';

/**
 * Returns a validated Client whose generated Secret gets only the labels and annotations whose exact keys the namespace
 * permits, with the names of the others; the same Client if all are permitted. Programs such as Helm, Terraform and
 * Grafana take orders from a label, whether its key has a domain or not.
 */
export function permittedMetadata(validated: ValidatedObject, granted: readonly string[]): ValidatedObject {
  const { secret } = validated;
  if (secret.from !== 'generated') return validated;
  const keys = [...Object.keys(secret.labels), ...Object.keys(secret.annotations)];
  const notPermitted = [...new Set(keys.filter((key) => !granted.includes(key)))].sort();
  if (notPermitted.length === 0) return validated;
  const permitted = (texts: Texts): Texts =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => granted.includes(key)));
  const left = { ...secret, labels: permitted(secret.labels), annotations: permitted(secret.annotations) };
  return { ...validated, secret: left, notPermitted, whole: validated };
}

/** Returns the keys that an annotation permits, separated by commas or blanks. */
export function grantedMetadata(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((key) => key !== '');
}

type Texts = Readonly<Record<string, string>>;

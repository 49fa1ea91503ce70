import { wordHint } from '../../crds/did-you-mean.ts';
import type { BoxQuota } from './source.ts';
import { HIGHEST_QUOTA, isQuotaName, QUOTA_ANNOTATION, QUOTA_DEFAULTS, type Quota } from '../../crds/quota.ts';

/**
 * Reads the quota annotation of a Namespace: `clients=20000,users=5000`, separated by commas or blanks. One mistake
 * makes the whole annotation unreadable: a part of it alone could allow more than intended.
 */
export function readQuota(annotation: string | undefined): BoxQuota {
  const quota: Partial<Record<keyof Quota, number>> = {};
  for (const entry of annotationEntries(annotation)) {
    const [, name = '', digits = ''] = /^([a-z]+)=([0-9]{1,13})$/.exec(entry) ?? [];
    const limit = Number(digits);
    if (digits === '' || limit > HIGHEST_QUOTA) return faulty(`${shown(entry)} is not a name, "=" and a number`);
    if (!isQuotaName(name)) return faulty(noQuota(name));
    if (quota[name] !== undefined) return faulty(`${name} is set twice`);
    quota[name] = limit;
  }
  return { quota };
}

/** Returns the entries of an annotation, separated by commas or blanks. */
export function annotationEntries(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
}

function noQuota(name: string): string {
  const known = Object.keys(QUOTA_DEFAULTS);
  return `${shown(name)} is no quota: ${known.join(', ')}${wordHint(name, known)}`;
}

function faulty(what: string): BoxQuota {
  return { fault: `the annotation ${QUOTA_ANNOTATION} of the Namespace cannot be read: ${what}` };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/**
 * Returns the command by which an admin adds values to an annotation of a Namespace: it keeps what the annotation
 * grants already. `values` are names of hosts or keys of labels, which no shell takes for anything else.
 */
export function grantCommand(namespace: string, annotation: string, values: readonly string[]): string {
  const path = `{.metadata.annotations.${annotation.replaceAll('.', '\\.')}}`;
  const read = `granted=$(kubectl get namespace ${namespace} --output 'jsonpath=${path}')`;
  // Nothing is written if nothing could be read.
  return `${read} && kubectl annotate --overwrite namespace ${namespace} "${annotation}=$granted ${values.join(' ')}"`;
}

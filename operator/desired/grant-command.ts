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

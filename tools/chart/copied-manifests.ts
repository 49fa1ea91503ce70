/** The namespace that operator/rbac names; the chart writes that of the release in its place. */
const namespaceOfRbac = 'boxgate-system';

/** Returns a template with the roles of operator/rbac: namespace, labels and annotations of the release are added. */
export function rbacTemplate(text: string): string {
  const body = withMetadata(escaped(text), annotationsOf(text))
    .replaceAll(`namespace: ${namespaceOfRbac}`, 'namespace: {{ .Release.Namespace | quote }}')
    .replaceAll(namespaceOfRbac, '{{ .Release.Namespace }}');
  return `${header}{{- if .Values.rbac.create }}\n${body.trimEnd()}\n{{- end }}\n`;
}

/** Returns a template with a custom resource definition, which stays when the chart is uninstalled. */
export function crdTemplate(text: string): string {
  const kept = withMetadata(escaped(text), ' "annotations" (dict "helm.sh/resource-policy" "keep")');
  return `${header}{{- if .Values.crds.install }}\n${kept.trimEnd()}\n{{- end }}\n`;
}

const header = '{{- /* Copied by `make generate`. Do not edit. */ -}}\n';

/** Returns the argument with the annotations that the settings give to the ServiceAccount. */
function annotationsOf(text: string): string {
  return text.includes('\nkind: ServiceAccount\nmetadata:')
    ? ' "annotations" .Values.operator.serviceAccount.annotations'
    : '';
}

/**
 * Adds the labels and annotations of the release to each object; `more` are further arguments of the template
 * `boxgate.labelsAndAnnotations`.
 */
function withMetadata(text: string, more: string): string {
  const about = `  {{- include "boxgate.labelsAndAnnotations" (dict "root" . "component" "operator"${more}) | nindent 2 }}`;
  return text.replaceAll(/^metadata:\n {2}name: .*\n/gm, (metadata) => `${metadata}${about}\n`);
}

/** A text of ours must not be read as a template. */
function escaped(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}');
}

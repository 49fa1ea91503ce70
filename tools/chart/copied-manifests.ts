/** The namespace that operator/rbac names; the chart writes that of the release in its place. */
const namespaceOfRbac = 'boxgate-system';

/** Returns a template with the roles of operator/rbac: the namespace and the labels of the release are added. */
export function rbacTemplate(text: string): string {
  const body = withLabels(escaped(text)).replaceAll(namespaceOfRbac, '{{ .Release.Namespace }}');
  return `${header}{{- if .Values.rbac.create }}\n${body.trimEnd()}\n{{- end }}\n`;
}

/** Returns a template with a custom resource definition, which stays when the chart is uninstalled. */
export function crdTemplate(text: string): string {
  const kept = withLabels(escaped(text)).replace(
    /^metadata:\n/m,
    'metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n',
  );
  return `${header}{{- if .Values.crds.install }}\n${kept.trimEnd()}\n{{- end }}\n`;
}

const header = '{{- /* Copied by `make generate`. Do not edit. */ -}}\n';

function withLabels(text: string): string {
  const labels = '  labels: {{- include "boxgate.labels" (dict "root" . "component" "operator") | nindent 4 }}';
  return text.replaceAll(/^metadata:\n {2}name: .*\n/gm, (metadata) => `${metadata}${labels}\n`);
}

/** A text of ours must not be read as a template. */
function escaped(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}');
}

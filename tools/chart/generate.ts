import { format, resolveConfig } from 'prettier';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { valuesSchema, valuesTable } from './values.ts';

// Run by `make generate`. The same sources always give the same bytes.
const chart = 'charts/boxgate';
const header = '{{- /* Copied by `make generate`. Do not edit. */ -}}\n';
/** The namespace that operator/rbac names; the chart writes that of the release in its place. */
const namespaceOfRbac = 'boxgate-system';

// As `make format` would write it.
const options = { ...(await resolveConfig('package.json')), parser: 'json' };
writeFileSync(`${chart}/values.schema.json`, await format(valuesSchema(), options));
writeReadme(`${chart}/README.md`);
copy('crds', 'crds', crdTemplate);
copy('operator/rbac', 'rbac', rbacTemplate);

/** Writes the table of the README between its two marks. */
function writeReadme(file: string): void {
  const [begin, end] = ['<!-- values: written by make generate -->\n', '\n<!-- end of values -->'];
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  writeFileSync(file, text.slice(0, from) + valuesTable() + text.slice(to));
}

function copy(from: string, to: string, template: (text: string) => string): void {
  mkdirSync(`${chart}/templates/${to}`, { recursive: true });
  for (const name of readdirSync(from).filter((file) => file.endsWith('.yaml'))) {
    writeFileSync(`${chart}/templates/${to}/${name}`, template(readFileSync(`${from}/${name}`, 'utf8')));
  }
}

/** Returns a template with the roles of operator/rbac: namespace, labels and annotations of the release are added. */
function rbacTemplate(text: string): string {
  const body = withMetadata(escaped(text), annotationsOf(text))
    .replaceAll(`namespace: ${namespaceOfRbac}`, 'namespace: {{ .Release.Namespace | quote }}')
    .replaceAll(namespaceOfRbac, '{{ .Release.Namespace }}');
  return `${header}{{- if .Values.rbac.create }}\n${body.trimEnd()}\n{{- end }}\n`;
}

/** Returns a template with a custom resource definition, which stays when the chart is uninstalled. */
function crdTemplate(text: string): string {
  const kept = withMetadata(escaped(text), ' "annotations" (dict "helm.sh/resource-policy" "keep")');
  return `${header}{{- if .Values.crds.install }}\n${kept.trimEnd()}\n{{- end }}\n`;
}

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

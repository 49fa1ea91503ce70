{{- /* Labels of an object: one map, so that no key is written twice. Arguments: root, component, labels. */ -}}
{{- define "boxgate.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" -}}
{{- $own := dict "app.kubernetes.io/part-of" "boxgate" "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/version" .root.Chart.AppVersion "helm.sh/chart" $chart -}}
{{ toYaml (merge (fromYaml (include "boxgate.selector" .)) (default dict .labels) (default dict .root.Values.commonLabels) $own) }}
{{- end -}}

{{- /* Labels by which a Deployment finds its pods; they never change. Arguments: component. */ -}}
{{- define "boxgate.selector" -}}
app.kubernetes.io/name: boxgate
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- /* Metadata of a pod. The version is not among the labels, so that it alone restarts nothing. Arguments: root, component, labels, annotations. */ -}}
{{- define "boxgate.podMetadata" -}}
{{- $own := dict "app.kubernetes.io/part-of" "boxgate" -}}
labels: {{- toYaml (merge (fromYaml (include "boxgate.selector" .)) (default dict .labels) (default dict .root.Values.commonLabels) $own) | nindent 2 }}
{{- with .annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Metadata of an object in the namespace of the release. Arguments: name, and those of boxgate.labelsAndAnnotations. */ -}}
{{- define "boxgate.metadata" -}}
name: {{ .name | quote }}
namespace: {{ .root.Release.Namespace | quote }}
{{ include "boxgate.labelsAndAnnotations" . }}
{{- end -}}

{{- /* Labels and annotations of an object. Arguments: root, component, labels, annotations. */ -}}
{{- define "boxgate.labelsAndAnnotations" -}}
labels: {{- include "boxgate.labels" . | nindent 2 }}
{{- with merge dict (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* An image. Arguments: image, version. */ -}}
{{- define "boxgate.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .version .image.tag }}
{{- end -}}
{{- end -}}

{{- define "boxgate.scheme" -}}
{{ ternary "https" "http" (ne .Values.tls.secretName "") }}
{{- end -}}

{{- /* The address of the public port from outside; without one, that of the Service. */ -}}
{{- define "boxgate.publicUrl" -}}
{{ default (printf "%s://boxgate-api.%s.svc" (include "boxgate.scheme" .) .Release.Namespace) .Values.publicUrl | trimSuffix "/" }}
{{- end -}}

{{- define "boxgate.publicHost" -}}
{{ (urlParse .Values.publicUrl).hostname }}
{{- end -}}

{{- /* The databases as JSON, home first. Each has owner and api, which name a Secret and a key, caSecretName, the end of its variables, and the folder of its authority. */ -}}
{{- define "boxgate.databases" -}}
{{- $all := list -}}
{{- range $index, $database := .Values.databases -}}
{{- $suffix := ternary "" (printf "_%s" (.name | upper | replace "-" "_")) (eq $index 0) -}}
{{- $all = append $all (merge (dict "suffix" $suffix "folder" (printf "database-%s" .name)) (deepCopy .) (dict "caSecretName" "" "owner" (dict "key" "uri") "api" (dict "key" "uri"))) -}}
{{- else -}}
{{- $own := .Values.database -}}
{{- if .Values.postgres.bundled.enabled -}}
{{- $own = dict "owner" (dict "secretName" "boxgate-database" "key" "uri") "api" (dict "secretName" "boxgate-database-api" "key" "uri") "caSecretName" "" -}}
{{- end -}}
{{- $all = list (merge (dict "suffix" "" "folder" "database") (deepCopy $own)) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- define "boxgate.publicPort" -}}
{{ ternary 443 80 (ne .Values.tls.secretName "") }}
{{- end -}}

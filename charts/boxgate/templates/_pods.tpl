{{- /* What every pod has. Arguments: root, component. */ -}}
{{- define "boxgate.pod" -}}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Metadata of the pod of a Job. Arguments: root, component. */ -}}
{{- define "boxgate.jobPodMetadata" -}}
{{- $jobs := .root.Values.jobs -}}
{{ include "boxgate.podMetadata" (dict "root" .root "component" .component "labels" $jobs.podLabels "annotations" $jobs.podAnnotations) }}
{{- end -}}

{{- /* What the pod of a Job has. Arguments: root, component. */ -}}
{{- define "boxgate.jobPod" -}}
{{ include "boxgate.pod" . }}
{{- with include "boxgate.placement" .root.Values.jobs }}
{{ trim . }}
{{- end }}
{{- with .root.Values.jobs.extraInitContainers }}
initContainers: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Mounts, or volumes, of the pod of a Job: its own, and those of the settings; nothing if there are none. Arguments: member, own (a list as YAML), extra. */ -}}
{{- define "boxgate.jobList" -}}
{{- with concat (fromYamlArray (default "[]" .own)) (default list .extra) }}
{{ $.member }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* The variables of a container: a further one takes the place of one of ours that has its name. Arguments: own (a list as YAML), extra, setting. */ -}}
{{- define "boxgate.env" -}}
{{- $extra := dict -}}
{{- range .extra -}}
{{- if hasKey $extra .name }}{{ fail (printf "%s has the variable %s twice: leave one out" $.setting .name) }}{{ end -}}
{{- $_ := set $extra .name . -}}
{{- end -}}
{{- $env := list -}}
{{- range fromYamlArray .own -}}
{{- $env = append $env (default . (get $extra .name)) -}}
{{- $_ := unset $extra .name -}}
{{- end -}}
{{- range .extra }}{{ if hasKey $extra .name }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{ toYaml $env }}
{{- end -}}

{{- /* What every container of ours has. Arguments: root. */ -}}
{{- define "boxgate.container" -}}
image: {{ include "boxgate.image" (dict "image" .root.Values.image "version" .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "boxgate.containerSecurity" . }}
{{- end -}}

{{- define "boxgate.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- /* Where pods run. Arguments: the settings. */ -}}
{{- define "boxgate.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* The spread of the pods of a Deployment. Arguments: settings, component. */ -}}
{{- define "boxgate.spread" -}}
{{- with .settings.topologySpreadConstraints }}
topologySpreadConstraints:
{{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    {{- if not .labelSelector }}
    labelSelector:
      matchLabels: {{- include "boxgate.selector" $ | nindent 8 }}
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* A variable of a Secret. Arguments: name, secret, key. */ -}}
{{- define "boxgate.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: {name: {{ .secret | quote }}, key: {{ .key | quote }}}
{{- end -}}

{{- /* The variables with the URLs of each database. With an authority they have parameters that pg reads it by. Arguments: root, roles: the end of a variable's name for `owner` or `api`. */ -}}
{{- define "boxgate.databaseUrls" -}}
{{- $roles := .roles -}}
{{- range $database := fromJsonArray (include "boxgate.databases" .root) -}}
{{- range $role := $roles -}}
{{- $access := get $database $role -}}
{{- $given := printf "%s_URL%s" (ternary "OWNER" "DATABASE" (eq $role "owner")) $database.suffix -}}
{{- $secret := dict "secret" $access.secretName "key" $access.key -}}
{{- if $database.caSecretName -}}
{{ include "boxgate.secretEnv" (merge (dict "name" $given) $secret) | nindent 0 }}
- {name: BOXGATE_{{ $given }}, value: "$({{ $given }})?sslmode=verify-full&sslrootcert=/etc/boxgate/{{ $database.folder }}/ca.crt"}
{{- else -}}
{{ include "boxgate.secretEnv" (merge (dict "name" (print "BOXGATE_" $given)) $secret) | nindent 0 }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .root.Values.databases }}
{{- $names := list -}}{{- range . -}}{{- $names = append $names .name -}}{{- end }}
- {name: BOXGATE_DATABASES, value: {{ join "," $names | quote }}}
{{- end -}}
{{- end -}}

{{- /* The mounts of the authorities of Postgres, and their volumes; none without caSecretName. Arguments: the root. */ -}}
{{- define "boxgate.databaseCaMount" -}}
{{- range fromJsonArray (include "boxgate.databases" .) -}}
{{- if .caSecretName }}
- {name: {{ .folder }}-ca, mountPath: /etc/boxgate/{{ .folder }}, readOnly: true}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "boxgate.databaseCaVolume" -}}
{{- range fromJsonArray (include "boxgate.databases" .) -}}
{{- if .caSecretName }}
- name: {{ .folder }}-ca
  secret:
    secretName: {{ .caSecretName | quote }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A Job named by its content: the next one has another name, because a Job cannot be changed. Arguments: root, component, name, spec. */ -}}
{{- define "boxgate.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- $name := printf "%s-%s" .name (sha256sum .spec | trunc 8) }}
  {{- include "boxgate.metadata" (dict "root" .root "component" .component "name" $name "annotations" .root.Values.jobs.annotations) | nindent 2 }}
spec:
  {{- .spec | nindent 2 }}
{{- end -}}

{{- define "boxgate.intOrPercent" -}}
{{- if kindIs "string" . }}{{ quote . }}{{ else }}{{ int64 . }}{{ end -}}
{{- end -}}

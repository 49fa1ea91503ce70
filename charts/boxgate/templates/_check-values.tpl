{{- /* Ends with one sentence if settings do not fit each other. */ -}}
{{- define "boxgate.checkValues" -}}
{{- $given := .Values.database -}}
{{- $isGiven := or $given.owner.secretName $given.api.secretName -}}
{{- if and .Values.postgres.bundled.enabled .Values.databases -}}
{{- fail "databases names existing Postgres, but postgres.bundled.enabled is true: set it to false" -}}
{{- end -}}
{{- if and .Values.databases $isGiven -}}
{{- fail "database and databases are both set: move database to the first entry of databases" -}}
{{- end -}}
{{- if .Values.postgres.bundled.enabled -}}
{{- if $isGiven -}}
{{- fail "database.owner.secretName and database.api.secretName name an existing Postgres, but postgres.bundled.enabled is true: set it to false" -}}
{{- end -}}
{{- if $given.caSecretName -}}
{{- fail "database.caSecretName is for an existing Postgres, but postgres.bundled.enabled is true: set one of them only" -}}
{{- end -}}
{{- else -}}
{{- $migrates := .Values.migrate.enabled -}}
{{- range fromJsonArray (include "boxgate.databases" .) -}}
{{- $setting := ternary "database" (printf "databases[%s]" .name) (eq .folder "database") -}}
{{- if not .api.secretName -}}
{{- fail (printf "%s.api.secretName is missing: name the Secret with the URL of the role of the API, or set postgres.bundled.enabled to true" $setting) -}}
{{- end -}}
{{- if and $migrates (not .owner.secretName) -}}
{{- fail (printf "%s.owner.secretName is missing: name the Secret with the URL of the owner of the schema, or set migrate.enabled to false" $setting) -}}
{{- end -}}
{{- if and (eq .owner.secretName .api.secretName) (eq .owner.key .api.key) -}}
{{- fail (printf "%s.api names the same URL as %s.owner: the API needs a role of its own, which row-level security binds" $setting $setting) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}{{- range .Values.databases -}}{{- $names = append $names .name -}}{{- end -}}
{{- if and .Values.defaultDatabase (not (has .Values.defaultDatabase $names)) -}}
{{- fail (printf "defaultDatabase is %s, which is not among databases" .Values.defaultDatabase) -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) (not .Values.publicUrl) -}}
{{- fail "ingress.hosts is missing: name a host, or set publicUrl" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is missing: name a Gateway" -}}
{{- end -}}
{{- range $setting, $labels := dict "commonLabels" .Values.commonLabels "api.podLabels" .Values.api.podLabels "operator.podLabels" .Values.operator.podLabels "jobs.podLabels" .Values.jobs.podLabels "postgres.bundled.podLabels" .Values.postgres.bundled.podLabels -}}
{{- range list "app.kubernetes.io/name" "app.kubernetes.io/component" -}}
{{- if hasKey (default dict $labels) . -}}
{{- fail (printf "%s has %s, by which a workload finds its pods: choose another key" $setting .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.api.autoscaling -}}
{{- if lt (int64 .maxReplicas) (int64 .minReplicas) -}}
{{- fail "api.autoscaling.maxReplicas is less than api.autoscaling.minReplicas: raise it" -}}
{{- end -}}
{{- end -}}
{{- end -}}

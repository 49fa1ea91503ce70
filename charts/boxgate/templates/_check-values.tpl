{{- /* Ends with one sentence if settings do not fit each other. */ -}}
{{- define "boxgate.checkValues" -}}
{{- $owner := .Values.database.owner -}}
{{- $api := .Values.database.api -}}
{{- if .Values.postgres.bundled.enabled -}}
{{- if or $owner.secretName $api.secretName -}}
{{- fail "database.owner.secretName and database.api.secretName name an existing Postgres, but postgres.bundled.enabled is true: set it to false" -}}
{{- end -}}
{{- if .Values.database.caSecretName -}}
{{- fail "database.caSecretName is for an existing Postgres, but postgres.bundled.enabled is true: set one of them only" -}}
{{- end -}}
{{- else -}}
{{- if not $api.secretName -}}
{{- fail "database.api.secretName is missing: name the Secret with the URL of the role of the API, or set postgres.bundled.enabled to true" -}}
{{- end -}}
{{- if and .Values.migrate.enabled (not $owner.secretName) -}}
{{- fail "database.owner.secretName is missing: name the Secret with the URL of the owner of the schema, or set migrate.enabled to false" -}}
{{- end -}}
{{- if and (eq $owner.secretName $api.secretName) (eq $owner.key $api.key) -}}
{{- fail "database.api names the same URL as database.owner: the API needs a role of its own, which row-level security binds" -}}
{{- end -}}
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

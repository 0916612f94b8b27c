{{/* Makes what is null in the values an empty map, parents first, as people mean it who take defaults away, and the usual value of what nothing works without. Every template begins with it. */}}
{{- define "portico.whole" -}}
{{- range $path := list
      "ca" "check" "crds" "gateways" "image" "metrics" "namespace" "networkPolicy" "operator" "portal" "priorityClass"
      "secrets" "check.image" "metrics.dashboards" "metrics.prometheusRule" "metrics.serviceMonitor"
      "operator.affinity" "operator.aws" "operator.databases" "operator.image" "operator.nodeSelector"
      "operator.people" "operator.podAnnotations" "operator.podLabels" "operator.resources"
      "operator.serviceAccountAnnotations" "operator.settings" "portal.affinity" "portal.autoscaling" "portal.cli"
      "portal.httpRoute" "portal.image" "portal.ingress" "portal.nodeSelector" "portal.oidc" "portal.podAnnotations"
      "portal.podLabels" "portal.resources" "portal.service" "portal.serviceAccountAnnotations" "portal.sessionKeys"
      "portal.settings" "portal.tls" "metrics.dashboards.labels" "metrics.prometheusRule.labels"
      "metrics.serviceMonitor.labels" "operator.resources.limits" "operator.resources.requests"
      "portal.httpRoute.annotations" "portal.ingress.annotations" "portal.oidc.clientSecret"
      "portal.oidc.groupNames" "portal.resources.limits" "portal.resources.requests" "portal.service.annotations" }}
{{- $at := $.Values }}
{{- range $key := splitList "." $path }}
{{- if not (kindIs "map" (get $at $key)) }}{{ $_ := set $at $key dict }}{{ end }}
{{- $at = get $at $key }}
{{- end }}
{{- end }}
{{- range $path, $usual := dict "gateways.namespace" "portico-gateways" "image.registry" "ghcr.io/portico-platform"
      "operator.image.repository" "portico-operator" "portal.image.repository" "portico-portal" "check.image.repository" "portico"
      "portal.oidc.clientSecret.key" "client-secret" "ca.key" "ca.crt" "portal.autoscaling.maxReplicas" 6
      "portal.autoscaling.targetCPUUtilizationPercentage" 70 }}
{{- $at := $.Values }}
{{- $keys := splitList "." $path }}
{{- range $key := initial $keys }}{{ $at = get $at $key }}{{ end }}
{{- if not (get $at (last $keys)) }}{{ $_ := set $at (last $keys) $usual }}{{ end }}
{{- end }}
{{- end }}

{{/* An object of Portico's own manifests as it is here, in JSON, where names of digits are texts: its namespaces are those of this release. */}}
{{- define "portico.here" -}}
{{- .text | fromYaml | toJson | replace "portico-system" .root.Release.Namespace | replace "portico-gateways" .root.Values.gateways.namespace -}}
{{- end }}

{{/* A value as a text: Helm reads whole numbers of a values file as floats. */}}
{{- define "portico.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end -}}
{{- end }}

{{/* Labels of every object. */}}
{{- define "portico.labels" -}}
app.kubernetes.io/name: portico
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name | toYaml }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels by which a Deployment, a Service and policies find Pods. */}}
{{- define "portico.selector" -}}
app.kubernetes.io/name: portico
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "portico.image" -}}
{{- $of := (index .root.Values .component).image -}}
{{- $at := printf "%s/%s" .root.Values.image.registry $of.repository -}}
{{- if $of.digest }}{{ $at }}@{{ $of.digest }}{{ else }}{{ $at }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{/* Bytes of a memory quantity such as 512Mi. */}}
{{- define "portico.bytes" -}}
{{- $units := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "k" 1000 "M" 1000000 "G" 1000000000 "" 1 -}}
{{- $text := include "portico.text" . -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- if not (regexMatch "^[0-9]+(Ki|Mi|Gi|k|M|G)?$" $text) }}{{ fail (printf "a memory limit of %v: write it as a whole number with Ki, Mi, Gi, k, M or G, or nothing" .) }}{{ end -}}
{{- mul (atoi (trimSuffix $unit $text)) (get $units $unit) -}}
{{- end }}

{{/* Environment of every Pod. Nine tenths of the memory limit are for Go; the rest is for what its collector does not see. */}}
{{- define "portico.env" -}}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- with dig "limits" "memory" "" ((index .root.Values .component).resources | default dict) }}
- name: GOMEMLIMIT
  value: {{ div (mul (include "portico.bytes" . | atoi) 9) 10 | quote }}
{{- end }}
{{- with (index .root.Values .component).extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The flag --ca-file of both programs. */}}
{{- define "portico.caFile" -}}
{{ empty .Values.ca.existingConfigMap | ternary "" "/etc/portico/ca/ca.crt" }}
{{- end }}

{{/* Mounts that both containers can have, and their volumes. */}}
{{- define "portico.mounts" -}}
{{- if .root.Values.ca.existingConfigMap }}
- {name: ca, mountPath: /etc/portico/ca, readOnly: true}
{{- end }}
{{- if and (eq .component "operator") .root.Values.operator.databases.caConfigMap }}
- {name: database-ca, mountPath: /etc/portico/databases, readOnly: true}
{{- end }}
{{- with (index .root.Values .component).extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "portico.volumes" -}}
{{- with .root.Values.ca }}
{{- if .existingConfigMap }}
- name: ca
  configMap: {name: {{ .existingConfigMap | quote }}, items: [{key: {{ .key | quote }}, path: ca.crt}]}
{{- end }}
{{- end }}
{{- with .root.Values.operator.databases.caConfigMap }}
{{- if eq $.component "operator" }}
- name: database-ca
  configMap: {name: {{ . | quote }}, optional: true}
{{- end }}
{{- end }}
{{- with (index .root.Values .component).extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Data of a ConfigMap: flags by name become variables, as setting.Variable names them. Empty ones are left out: see portico.emptied. */}}
{{- define "portico.settings" -}}
{{- range $flag, $value := . }}
{{- if ne (toString $value) "" }}
{{ printf "PORTICO_%s" ($flag | upper | replace "-" "_") }}: {{ include "portico.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Arguments for the flags that are empty on purpose, as a list: an empty variable counts for nothing. */}}
{{- define "portico.emptied" -}}
{{- range $flag, $value := . }}
{{- if and (kindIs "string" $value) (empty $value) }}
- --{{ $flag }}=
{{- end }}
{{- end }}
{{- end }}

{{/* Where Pods run, and beside whom. */}}
{{- define "portico.placement" -}}
{{- $of := index .root.Values .component -}}
{{- with .root.Values.priorityClass.name }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $of.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $of.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $of.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app.kubernetes.io/name: portico, app.kubernetes.io/component: {{ $.component }}}}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{/* A container without rights: what the Pod Security Standard "restricted" asks for, and a root that cannot be written. */}}
{{- define "portico.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "portico.confinedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Name of the Secret with the keys of sessions. */}}
{{- define "portico.sessionKeys" -}}
{{ .Values.portal.sessionKeys.existingSecret | default "portico-session-keys" }}
{{- end }}

{{/* publicURL as browsers write it in the header Origin: in small letters, without the default port of its scheme. */}}
{{- define "portico.publicURL" -}}
{{ regexReplaceAll "^(https://.*):(443)?$|^(http://.*):(80)?$" (.Values.portal.publicURL | default "" | lower) "${1}${3}" }}
{{- end }}

{{/* The host of publicURL. */}}
{{- define "portico.host" -}}
{{ get (urlParse (include "portico.publicURL" .)) "host" | regexFind "^[^:]+" }}
{{- end }}

{{- define "portico.portalPort" -}}
{{ empty .Values.portal.tls.existingSecret | ternary 80 443 }}
{{- end }}

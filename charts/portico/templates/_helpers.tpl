{{/* What a string of Portico's own manifests says here: its namespaces are those of this release. */}}
{{- define "portico.here" -}}
{{- .text | replace "portico-system" .root.Release.Namespace | replace "portico-gateways" .root.Values.gateways.namespace -}}
{{- end }}

{{/* Labels of every object. */}}
{{- define "portico.labels" -}}
app.kubernetes.io/name: portico
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
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
{{- $unit := regexFind "[A-Za-z]*$" (toString .) -}}
{{- if not (regexMatch "^[0-9]+(Ki|Mi|Gi|k|M|G)?$" (toString .)) }}{{ fail (printf "a memory limit of %v: write it as a whole number with Ki, Mi, Gi, k, M or G, or nothing" .) }}{{ end -}}
{{- mul (atoi (trimSuffix $unit (toString .))) (get $units $unit) -}}
{{- end }}

{{/* Environment of every Pod. Nine tenths of the memory limit are for Go; the rest is for what its collector does not see. */}}
{{- define "portico.env" -}}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- with dig "limits" "memory" "" (index .root.Values .component).resources }}
- name: GOMEMLIMIT
  value: {{ div (mul (include "portico.bytes" . | atoi) 9) 10 | quote }}
{{- end }}
{{- end }}

{{/* Data of a ConfigMap: flags by name become variables, as setting.Variable names them. Empty ones are left out. */}}
{{- define "portico.settings" -}}
{{- range $flag, $value := . }}
{{- if ne (toString $value) "" }}
{{ printf "PORTICO_%s" ($flag | upper | replace "-" "_") }}: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where Pods run, and beside whom. */}}
{{- define "portico.placement" -}}
{{- $of := index .root.Values .component -}}
{{- with .root.Values.priorityClass.name }}
priorityClassName: {{ . }}
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

{{/* The host of publicURL. */}}
{{- define "portico.host" -}}
{{ get (urlParse .Values.portal.publicURL) "host" | regexFind "^[^:]+" }}
{{- end }}

{{- define "portico.portalPort" -}}
{{ empty .Values.portal.tls.existingSecret | ternary 80 443 }}
{{- end }}

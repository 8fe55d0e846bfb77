{{- /* An image of a list [root, value]: a tag that begins with "sha256:" is a digest. */ -}}
{{- define "grove.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $tag := default $root.Chart.AppVersion $image.tag -}}
{{- if hasPrefix "sha256:" $tag -}}
{{ $image.repository }}@{{ $tag }}
{{- else -}}
{{ $image.repository }}:{{ $tag }}
{{- end -}}
{{- end -}}

{{- /* The operator's configuration file. */ -}}
{{- define "grove.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := unset $config.server.healthProbes "enable" -}}
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
{{ toYaml $config }}
{{- end -}}

{{- /* Named for its content, with the line end that it has in the ConfigMap. */ -}}
{{- define "grove.configName" -}}
grove-operator-cm-{{ printf "%s\n" (include "grove.config" .) | sha256sum | trunc 8 }}
{{- end -}}

{{- /* Whether a scheduler is used: of a list [root, name, other names…]. */ -}}
{{- define "grove.uses" -}}
{{- $config := (index . 0).Values.config -}}
{{- $names := rest . -}}
{{- $uses := false -}}
{{- range $config.scheduler.profiles -}}
{{- if has .name $names -}}{{- $uses = true -}}{{- end -}}
{{- end -}}
{{- if has (default "" $config.schedulerName) $names -}}{{- $uses = true -}}{{- end -}}
{{- if $uses -}}true{{- end -}}
{{- end -}}

{{- /* Whether the stock scheduler gets groups of pods: unless its profile says otherwise. */ -}}
{{- define "grove.gangScheduling" -}}
{{- $gangs := true -}}
{{- range .Values.config.scheduler.profiles -}}
{{- if has .name (list "default-scheduler" "kube-scheduler") -}}
{{- range $key, $value := default dict .config -}}
{{- if and (has $key (list "gangScheduling" "GangScheduling")) (eq (toString $value) "false") -}}{{- $gangs = false -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $gangs -}}true{{- end -}}
{{- end -}}

{{- /* Whether the operator reads nodes: for lost ones, and for topology. */ -}}
{{- define "grove.readsNodes" -}}
{{- $topology := .Values.config.topologyAwareScheduling -}}
{{- if or .Values.config.nodeLoss.enabled $topology.enabled $topology.defaultTopologyName -}}true{{- end -}}
{{- end -}}

{{- /* Whether deployment.env has the image of the init container, as upstream's values do. */ -}}
{{- define "grove.initImageInEnv" -}}
{{- range .Values.deployment.env -}}
{{- if eq .name "GROVE_INIT_CONTAINER_IMAGE" -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- /* What pods that the pod grouper works for carry as schedulerName, as a list of CEL. */ -}}
{{- define "grove.podGrouper.schedulers" -}}
{{- range $index, $name := .Values.podGrouper.schedulerNames }}{{ if $index }}, {{ end }}'{{ splitList "=" $name | first }}'{{ end -}}
{{- end -}}

package pods

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// environment returns all variables of the process: those of its container, the path of its kubeconfig,
// and the addresses at which it listens.
func (p *pod) environment(ctx context.Context) ([]string, error) {
	all := map[string]string{}
	for _, from := range p.container().EnvFrom {
		data, err := p.from(ctx, from)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			all[from.Prefix+key] = string(value)
		}
	}
	for _, variable := range p.container().Env {
		value, err := p.value(ctx, variable)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
		}
		all[variable.Name] = value
	}
	if err := p.apiServer(all); err != nil {
		return nil, err
	}
	p.listeners(all)
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+p.mapped(all[name]))
	}
	return env, nil
}

// apiServer sets the address of the API server: in the usual variables, or in a kubeconfig for a process that does
// not find the token.
func (p *pod) apiServer(env map[string]string) error {
	if p.options.Unpack == nil {
		if _, err := os.Stat(p.kubeconfig()); err == nil {
			env["KUBECONFIG"] = p.kubeconfig()
		}
		return nil
	}
	at, err := url.Parse(p.options.Admin.Host)
	if err != nil {
		return err
	}
	env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = at.Hostname(), at.Port()
	return nil
}

// listeners are the variables with the addresses at which Portico's containers listen, by container and by the name of
// the port.
var listeners = map[string]map[string]string{
	"operator": {
		"metrics": "PORTICO_METRICS_BIND_ADDRESS", "health": "PORTICO_HEALTH_PROBE_BIND_ADDRESS",
		"inspect": "PORTICO_INSPECT_BIND_ADDRESS",
	},
	"portal": {"pages": "PORTICO_LISTEN", "metrics": "PORTICO_METRICS_LISTEN"},
}

// listeners sets the addresses at which the process listens, unless the Pod does: in a Pod it listens at every address
// of the Pod's network namespace, and here all Pods share that of the machine.
func (p *pod) listeners(env map[string]string) {
	for name, variable := range listeners[p.container().Name] {
		if port := p.port(name); port != 0 && env[variable] == "" {
			env[variable] = net.JoinHostPort(p.ip, strconv.Itoa(int(port)))
		}
	}
}

func (p *pod) from(ctx context.Context, from corev1.EnvFromSource) (map[string][]byte, error) {
	switch {
	case from.ConfigMapRef != nil:
		return p.configMap(ctx, from.ConfigMapRef.Name, nil)
	case from.SecretRef != nil:
		return p.secret(ctx, from.SecretRef.Name, nil)
	default:
		return nil, nil
	}
}

func (p *pod) value(ctx context.Context, v corev1.EnvVar) (string, error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return v.Value, nil
	case from.FieldRef != nil:
		return p.field(from.FieldRef)
	case from.SecretKeyRef != nil:
		data, err := p.secret(ctx, from.SecretKeyRef.Name,
			[]corev1.KeyToPath{{Key: from.SecretKeyRef.Key, Path: "value"}})
		return string(data["value"]), err
	case from.ConfigMapKeyRef != nil:
		data, err := p.configMap(ctx, from.ConfigMapKeyRef.Name,
			[]corev1.KeyToPath{{Key: from.ConfigMapKeyRef.Key, Path: "value"}})
		return string(data["value"]), err
	default:
		return "", fmt.Errorf("this source cannot be played")
	}
}

func (p *pod) field(f *corev1.ObjectFieldSelector) (string, error) {
	fields := map[string]string{
		"metadata.name": p.spec.Name, "metadata.namespace": p.spec.Namespace, "metadata.uid": string(p.spec.UID),
		"status.podIP": p.ip, "spec.nodeName": Name, "spec.serviceAccountName": p.spec.Spec.ServiceAccountName,
	}
	value, ok := fields[f.FieldPath]
	if !ok {
		return "", fmt.Errorf("the field %s cannot be played", f.FieldPath)
	}
	return value, nil
}

// mapped replaces paths of mounts with those in the Pod's folder, if the folder is not its root.
func (p *pod) mapped(text string) string {
	if p.options.Unpack != nil {
		return text
	}
	for _, mount := range p.container().VolumeMounts {
		if text == mount.MountPath || strings.HasPrefix(text, mount.MountPath+"/") {
			return p.path(mount.MountPath) + strings.TrimPrefix(text, mount.MountPath)
		}
	}
	return text
}

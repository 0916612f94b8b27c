package upgrade

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/pods"
)

// replicas is the number of replicas of the operator, and of the portal.
const replicas = 2

// installer follows docs/install.md and docs/upgrade.md, with helm or with kubectl.
type installer struct {
	root, dir, kubeconfig string
	with                  string
	values                object
}

type object = map[string]any

// prepare creates what must exist before Portico is installed.
func (i *installer) prepare(ctx context.Context, s *stack.Stack) error {
	i.kubeconfig, i.dir = s.AdminKubeconfig, filepath.Join(s.Dir, "install")
	operator, portal := s.Settings()
	maps.Copy(operator, map[string]string{
		"sweep-interval": "3s", "provider-resync": "5s",
		"installation-check-interval": "2s",
	})
	portal["installation-check-interval"] = "2s" // new roles take a moment to be effective
	portal["shutdown-delay-duration"] = "5s"     // the default: a Service continues to send requests for a moment
	i.values = object{"operator": operator, "portal": portal}
	for _, step := range [][]string{
		{"create", "namespace", stack.Namespace},
		{"label", "namespace", stack.Namespace, "pod-security.kubernetes.io/enforce=restricted"},
		{"create", "secret", "generic", "portico-oidc", "-n", stack.Namespace, "--from-literal=client-secret=" + stack.PortalSecret},
	} {
		if err := i.run(ctx, "kubectl", step...); err != nil {
			return err
		}
	}
	return os.MkdirAll(i.dir, 0o750)
}

func (i *installer) run(ctx context.Context, program string, args ...string) error {
	home := "HELM_CACHE_HOME=" + i.dir
	_, err := command(ctx, i.root, "env", append([]string{
		"KUBECONFIG=" + i.kubeconfig, home, strings.Replace(home, "CACHE", "CONFIG", 1),
		strings.Replace(home, "CACHE", "DATA", 1),
		filepath.Join(i.root, "bin", program),
	}, args...)...)
	return err
}

// install installs or upgrades to a version. With wait, it waits for the Pods; on the first installation the stack does
// that.
func (i *installer) install(ctx context.Context, t tree, wait bool) error {
	if i.with == "kubectl" {
		return i.apply(ctx, t, wait)
	}
	values, err := i.file("values.yaml", i.chartValues())
	if err != nil {
		return err
	}
	args := []string{
		"upgrade", "--install", "portico", filepath.Join(t.dir, "charts", "portico"), "-n",
		stack.Namespace, "-f", values, "--set", "image.tag=" + t.tag,
	}
	if wait {
		args = append(args, "--wait", "--timeout=5m")
	}
	return i.run(ctx, "helm", args...)
}

// back rolls back to the previous version.
func (i *installer) back(ctx context.Context, t tree) error {
	if i.with == "kubectl" {
		return i.apply(ctx, t, true)
	}
	return i.run(ctx, "helm", "rollback", "portico", "-n", stack.Namespace, "--wait", "--timeout=5m",
		"--force-conflicts") // Kubernetes owns the rules of aggregated roles
}

func (i *installer) chartValues() object {
	here := func(more object) object {
		maps.Copy(more, object{
			"replicas":     replicas,
			"nodeSelector": object{"kubernetes.io/hostname": pods.Name}, "tolerations": []any{object{"key": pods.Name, "operator": "Exists"}},
		})
		return more
	}
	portal := i.values["portal"].(map[string]string)
	return object{
		"operator": here(object{"settings": i.values["operator"]}),
		"portal": here(object{
			"settings": portal, "publicURL": portal["public-url"], "autoscaling": object{"enabled": false},
			"oidc": object{
				"issuerURL": portal["oidc-issuer-url"], "clientID": stack.PortalClient, "clientSecret": object{
					"existingSecret": "portico-oidc",
				},
			},
		}),
	}
}

// apply installs without Helm, with an overlay over config/default.
func (i *installer) apply(ctx context.Context, t tree, wait bool) error {
	if !wait {
		if err := i.run(ctx, "kubectl", "create", "secret", "generic", "portico-session-keys", "-n", stack.Namespace,
			"--from-literal=keys="+campaign.SessionKey()); err != nil {
			return err
		}
	}
	overlay := filepath.Join(i.dir, t.tag)
	base, err := filepath.Rel(overlay, filepath.Join(t.dir, "config", "default"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(overlay, 0o750); err != nil {
		return err
	}
	if _, err := i.file(filepath.Join(t.tag, "kustomization.yaml"), i.overlay(t, base)); err != nil {
		return err
	}
	if err := i.run(ctx, "kubectl", "apply", "--server-side", "-k", overlay); err != nil || !wait {
		return err
	}
	for _, name := range []string{"operator", "portal"} {
		if err := i.run(ctx, "kubectl", "rollout", "status", "deployment/portico-"+name, "-n", stack.Namespace,
			"--timeout=5m"); err != nil {
			return err
		}
	}
	return nil
}

func (i *installer) overlay(t tree, base string) object {
	patch := func(o object) object {
		text, _ := yaml.Marshal(o) // only maps of strings, so it cannot fail
		return object{"patch": string(text)}
	}
	overlay := object{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []any{base},
		"patches": []any{patch(object{
			"$patch": "delete", "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
			"metadata": object{"name": "portico-portal", "namespace": stack.Namespace},
		})},
	}
	for _, name := range []string{"operator", "portal"} {
		id := object{"name": "portico-" + name, "namespace": stack.Namespace}
		data := map[string]string{}
		for flag, value := range i.values[name].(map[string]string) {
			data["PORTICO_"+strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))] = value
		}
		overlay["patches"] = append(overlay["patches"].([]any),
			patch(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": id, "data": data}),
			patch(object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": id, "spec": object{
				"replicas": replicas, "template": object{"spec": object{"nodeName": pods.Name}},
			}}))
		images, _ := overlay["images"].([]any)
		overlay["images"] = append(images, object{"name": "ghcr.io/portico-platform/portico-" + name, "newTag": t.tag})
	}
	return overlay
}

func (i *installer) file(name string, content object) (path string, err error) {
	text, err := yaml.Marshal(content)
	if err != nil {
		return "", err
	}
	path = filepath.Join(i.dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

// fix runs the version's portico check --fix, and returns how many objects that changed.
func (i *installer) fix(ctx context.Context, t tree) (steps int, err error) {
	said, err := command(ctx, i.root, filepath.Join(t.bin(), "portico"), "check", "--fix", "--yes", "--kubeconfig",
		i.kubeconfig)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(said) {
		for _, does := range []string{"  create ", "  change ", "  store "} {
			if strings.HasPrefix(line, does) {
				steps++
			}
		}
	}
	return steps, nil
}

// lacks fails if the cluster lacks something that the version needs.
func (i *installer) lacks(ctx context.Context, t tree) error {
	if _, err := command(ctx, i.root, filepath.Join(t.bin(), "portico"), "check", "--kubeconfig",
		i.kubeconfig); err != nil {
		return fmt.Errorf("%s with %s Pods: %w", t, strconv.Itoa(replicas), err)
	}
	return nil
}

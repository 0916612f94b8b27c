package webapp

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// The folder of binding files, according to the Service Binding Specification for Kubernetes: the value of the
// variable, or bindingRoot if the spec does not set it.
const (
	rootVariable = "SERVICE_BINDING_ROOT"
	bindingRoot  = "/bindings"
)

// rootOf returns the folder of all bindings: the spec's value of the variable, or bindingRoot.
func rootOf(app *v1alpha1.WebApp) string {
	for _, e := range app.Spec.Env {
		if e.Name == rootVariable && strings.HasPrefix(e.Value, "/") {
			return e.Value
		}
	}
	return bindingRoot
}

// checkRoot rejects a root that the application would not read, or where nothing can be mounted.
func (r *reconciliation) checkRoot() error {
	if len(r.given.folders) == 0 {
		return nil
	}
	for _, e := range r.app.Spec.Env {
		if e.Name == rootVariable && (e.ValueFrom != nil || !strings.HasPrefix(e.Value, "/") ||
			strings.ContainsAny(e.Value, ":$")) {
			return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the variable %s says where the files of bindings are, "+
				"and has to be an absolute path, without colons and variables in it; correct it in spec.env, or "+
				"leave it out for %s", rootVariable, bindingRoot)
		}
	}
	for _, f := range r.given.folders {
		if path.Join(rootOf(r.app), f.name) == "/tmp" {
			return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the files of the binding to %s %s would be in /tmp, "+
				"where the application writes; set another files.folder, or another %s", f.of.Kind, f.of.Name,
				rootVariable)
		}
	}
	return nil
}

// mountFolders mounts a volume for each folder. The files follow the Secret, including keys added later.
func mountFolders(pod *coreac.PodSpecApplyConfiguration, app *v1alpha1.WebApp, folders []folder) {
	for _, f := range folders {
		sum := sha256.Sum256([]byte(f.name))
		volume := "binding-" + hex.EncodeToString(sum[:4])
		pod.WithVolumes(coreac.Volume().WithName(volume).WithSecret(
			coreac.SecretVolumeSource().WithSecretName(f.secret)))
		pod.Containers[0].WithVolumeMounts(coreac.VolumeMount().WithName(volume).WithMountPath(
			path.Join(rootOf(app), f.name)).WithReadOnly(true))
	}
}

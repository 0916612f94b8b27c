package webapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// watchFallback is how soon something is looked at again whose change wakes the WebApp anyway.
const watchFallback = time.Minute

// variable is one that a binding gives.
type variable struct {
	name    string
	secret  string
	key     string
	version string // of the Secret
	of      v1alpha1.WebAppBinding
}

// resolveBindings finds the connection details, and waits for what has none yet.
func (r *reconciliation) resolveBindings(ctx context.Context) (string, error) {
	owner := map[string]v1alpha1.WebAppBinding{}
	for _, b := range r.app.Spec.Bindings {
		details, err := r.readBinding(ctx, b)
		if err != nil {
			return "", err
		}
		for _, key := range details.Keys {
			v := variable{name: prefixOf(b) + variableName(key), secret: details.Name, key: key, version: details.ResourceVersion, of: b}
			if other, taken := owner[v.name]; taken {
				return "", engine.Blocked(v1alpha1.ReasonBindingsCollide, "the bindings to %s %s and %s %s both give the variable %s; give one of them another prefix",
					other.Kind, other.Name, b.Kind, b.Name, v.name)
			}
			owner[v.name] = b
			r.variables = append(r.variables, v)
		}
	}
	return fmt.Sprintf("the Pods get the details of %s", listBindings(r.app.Spec.Bindings)), nil
}

// readBinding returns the Secret of one resource. The first rollout with it waits until the resource is Ready; later a resource
// that is not Ready for a while holds nothing up, as long as its Secret is there.
func (r *reconciliation) readBinding(ctx context.Context, b v1alpha1.WebAppBinding) (*v1alpha1.Binding, error) {
	found, err := r.Bound(ctx, b.Kind, r.app.Namespace, b.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up the %s %s: %w", b.Kind, b.Name, err)
	case !found.Found:
		return nil, engine.Blocked(v1alpha1.ReasonBindingNotFound, "there is no %s %s in this namespace; request it, or remove the binding", b.Kind, b.Name)
	case found.Deleting:
		return nil, engine.Blocked(v1alpha1.ReasonBindingNotFound, "the %s %s is being deleted; remove the binding, or bind another one", b.Kind, b.Name)
	}
	ready := found.Binding != nil && len(found.Binding.Keys) > 0
	if ready && (found.Ready || r.isBound(b)) {
		return found.Binding, nil
	}
	return nil, engine.Wait(v1alpha1.ReasonWaitingForBinding, watchFallback, "waiting for the %s %s to be Ready: %s", b.Kind, b.Name, cmp.Or(found.State, "it is not looked at yet"))
}

// isBound reports whether the Pods have the details already.
func (r *reconciliation) isBound(b v1alpha1.WebAppBinding) bool {
	return slices.ContainsFunc(r.app.Status.Bindings, func(s v1alpha1.WebAppBound) bool { return s.Kind == b.Kind && s.Name == b.Name })
}

// boundSecrets returns what the Deployment is given, for the status.
func (r *reconciliation) boundSecrets() []v1alpha1.WebAppBound {
	var all []v1alpha1.WebAppBound
	for _, v := range r.variables {
		one := v1alpha1.WebAppBound{Kind: v.of.Kind, Name: v.of.Name, Secret: v.secret, ResourceVersion: v.version}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

func prefixOf(b v1alpha1.WebAppBinding) string {
	prefix := b.Prefix
	if prefix == "" {
		prefix = variableName(b.Name)
		if prefix[0] >= '0' && prefix[0] <= '9' {
			prefix = "_" + prefix
		}
	}
	return strings.TrimSuffix(prefix, "_") + "_"
}

// checksum changes with the details: of the Secrets only the versions are known here.
func checksum(all []variable) string {
	if len(all) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, v := range all {
		_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%s\x00%s\n", v.name, v.secret, v.key, v.version)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

func listBindings(all []v1alpha1.WebAppBinding) string {
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = b.Kind + " " + b.Name
	}
	return strings.Join(names, ", ")
}

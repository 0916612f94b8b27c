package webapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// variable is an environment variable of a binding.
type variable struct {
	name    string
	secret  string
	key     string
	version string // of the Secret
	of      v1alpha1.WebAppBinding
}

// folder is a folder with the files of a binding.
type folder struct {
	name    string // below the root of all bindings
	secret  string
	version string // of the Secret
	reload  bool   // the application reads the files again
	of      v1alpha1.WebAppBinding
}

// projection is everything that bindings give the Pods.
type projection struct {
	variables []variable
	folders   []folder
	access    string // changes with AWS rights that running Pods would not notice
}

// ensureBindings reads what the bindings give the Pods, and gives the Pods the AWS rights for it.
func (r *reconciliation) ensureBindings(ctx context.Context, pass *engine.Pass) (string, error) {
	text, err := r.resolveBindings(ctx)
	if _, known := engine.AsWait(err); err != nil && !known { // not all were read
		return "", err
	}
	rights := r.ensureAccess(ctx, pass) // also for existing resources while another binding is waited for
	if _, known := engine.AsWait(rights); rights != nil && !known {
		return "", rights
	}
	r.given.access = accessChecksum(r.rights)
	return text, cmp.Or(err, rights)
}

// resolveBindings reads the connection details, and waits for missing ones. Rights cover all existing resources,
// whatever is waited for.
func (r *reconciliation) resolveBindings(ctx context.Context) (string, error) {
	var first error
	for _, b := range r.app.Spec.Bindings {
		found, err := r.readBinding(ctx, b)
		if _, known := engine.AsWait(err); err != nil && !known {
			return "", err
		}
		r.found = append(r.found, foundBinding{found, b})
		if grant, ok := access.Of(found.Object, b.Access); ok && !found.Deleting {
			r.grants = append(r.grants, grant)
		}
		if err == nil {
			err = r.given.add(b, found.Binding)
		}
		first = cmp.Or(first, err)
	}
	if first = cmp.Or(first, r.checkRoot()); first != nil {
		return "", first
	}
	return fmt.Sprintf("the Pods get the details of %s", listBindings(r.app.Spec.Bindings)), nil
}

// add adds the details of one binding.
func (p *projection) add(b v1alpha1.WebAppBinding, details *v1alpha1.Binding) error {
	if b.Files != nil {
		f := folder{
			name: cmp.Or(b.Files.Folder, b.Name), secret: details.Name, version: details.ResourceVersion,
			reload: b.Files.OnChange == v1alpha1.OnChangeReload, of: b,
		}
		if i := slices.IndexFunc(p.folders, func(other folder) bool { return other.name == f.name }); i >= 0 {
			return collision(p.folders[i].of, b, "folder "+f.name, "folder")
		}
		p.folders = append(p.folders, f)
		return nil
	}
	for _, key := range details.Keys {
		v := variable{
			name: prefixOf(b) + variableName(key), secret: details.Name, key: key,
			version: details.ResourceVersion, of: b,
		}
		if i := slices.IndexFunc(p.variables, func(other variable) bool { return other.name == v.name }); i >= 0 {
			return collision(p.variables[i].of, b, "variable "+v.name, "prefix")
		}
		p.variables = append(p.variables, v)
	}
	return nil
}

func collision(one, other v1alpha1.WebAppBinding, what, remedy string) error {
	return engine.Blocked(v1alpha1.ReasonBindingsCollide, "the bindings to %s %s and %s %s both give the %s; give "+
		"one of them another %s", one.Kind, one.Name, other.Kind, other.Name, what, remedy)
}

// readBinding returns a bound resource that has a Secret. The first rollout with it waits until the resource is Ready;
// later an unready resource blocks nothing while its Secret exists.
func (r *reconciliation) readBinding(ctx context.Context, b v1alpha1.WebAppBinding) (found BoundResource, err error) {
	found, err = r.Bound(ctx, b.Kind, r.app.Namespace, b.Name)
	switch {
	case err != nil:
		return found, fmt.Errorf("look up the %s %s: %w", b.Kind, b.Name, err)
	case !found.Found:
		return found, engine.Blocked(v1alpha1.ReasonBindingNotFound, "there is no %s %s in this namespace; request "+
			"it, or remove the binding", b.Kind, b.Name)
	case found.Deleting:
		return found, engine.Blocked(v1alpha1.ReasonBindingNotFound,
			"the %s %s is being deleted; remove the binding, or bind another one", b.Kind, b.Name)
	}
	if userOf(b) == v1alpha1.BindingUserOwn {
		found.Binding, err = r.bindUser(ctx, b)
		return found, err
	}
	ready := found.Binding != nil && len(found.Binding.Keys) > 0
	if ready && (found.Ready || r.usesSecret(found.Binding.Name)) {
		return found, nil
	}
	return found, engine.Wait(v1alpha1.ReasonWaitingForBinding, engine.WatchFallback,
		"waiting for the %s %s to be Ready: %s",
		b.Kind, b.Name, cmp.Or(found.State, "it is not checked yet"))
}

// isBound reports whether the Pods have the details already.
func (r *reconciliation) isBound(b v1alpha1.WebAppBinding) bool {
	return slices.ContainsFunc(r.app.Status.Bindings, func(s v1alpha1.WebAppBound) bool {
		return s.Kind == b.Kind && s.Name == b.Name
	})
}

// bound returns what the Deployment has been given, for the status.
func (r *reconciliation) bound() []v1alpha1.WebAppBound {
	var all []v1alpha1.WebAppBound
	entry := func(of v1alpha1.WebAppBinding, secret, version string) *v1alpha1.WebAppBound {
		i := slices.IndexFunc(all, func(b v1alpha1.WebAppBound) bool { return b.Kind == of.Kind && b.Name == of.Name })
		if i < 0 {
			i, all = len(all), append(all, v1alpha1.WebAppBound{
				Kind: of.Kind, Name: of.Name, Secret: secret,
				ResourceVersion: version, User: userOf(of),
			})
		}
		return &all[i]
	}
	for _, v := range r.given.variables {
		b := entry(v.of, v.secret, v.version)
		b.Variables = append(b.Variables, v.name)
	}
	for _, f := range r.given.folders {
		entry(f.of, f.secret, f.version).Folder = path.Join(rootOf(r.app), f.name)
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

// checksum changes with the details for which the Pods are replaced; of the Secrets only the versions are known.
func (p projection) checksum() string {
	hash, replaces := sha256.New(), len(p.variables) > 0
	for _, v := range p.variables {
		_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%s\x00%s\n", v.name, v.secret, v.key, v.version)
	}
	for _, f := range p.folders {
		if !f.reload {
			replaces = true
			_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%s\n", f.name, f.secret, f.version)
		}
	}
	if !replaces {
		return ""
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

package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Backup is what a cluster had.
type Backup struct {
	// ClusterID is what its operator put into the ownership tags.
	ClusterID string
	// Objects in the order in which they are restored.
	Objects []*object
	// Secrets that objects refer to, as <namespace>/<name>, sorted: they are saved by other means.
	Secrets []string
}

// page is how many objects are read at once.
const page = 500

// Save reads what Portico keeps in the cluster.
func (c *Cluster) Save(ctx context.Context) (*Backup, error) {
	id, err := c.id(ctx)
	if err != nil {
		return nil, err
	}
	all, err := kinds()
	if err != nil {
		return nil, err
	}
	made := &Backup{ClusterID: id}
	used, secrets := map[string]bool{}, map[string]bool{}
	for _, k := range all {
		found, err := c.list(ctx, k)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			used[o.GetNamespace()] = true
			for _, secret := range secretsOf(o, c.system) {
				secrets[secret] = true
			}
			made.Objects = append(made.Objects, cleaned(o))
		}
	}
	made.Objects = slices.DeleteFunc(made.Objects, func(o *object) bool {
		return o.GetKind() == "Namespace" && (!used[o.GetName()] || c.installs(o.GetName()))
	})
	made.Secrets = slices.Sorted(maps.Keys(secrets))
	return made, nil
}

// installs reports whether an installation creates the namespace.
func (c *Cluster) installs(namespace string) bool {
	return namespace == c.system || namespace == "portico-gateways"
}

// list reads all objects of a kind, page by page.
func (c *Cluster) list(ctx context.Context, k kind) ([]*object, error) {
	var all []*object
	for next := ""; ; {
		found, err := c.objects.Resource(k.GroupVersionResource).List(
			ctx, metav1.ListOptions{Limit: page, Continue: next})
		if apierrors.IsNotFound(err) && k.Group == v1alpha1.GroupVersion.Group {
			return nil, fmt.Errorf("the cluster has no %s: is Portico installed there, in this version? portico "+
				"check tells: %w", k.GroupResource(), err)
		}
		if err != nil {
			return nil, fmt.Errorf("list the %s: %w", k.GroupResource(), err)
		}
		for i := range found.Items {
			if o := &found.Items[i]; saved(o) {
				all = append(all, o)
			}
		}
		if next = found.GetContinue(); next == "" {
			return all, nil
		}
	}
}

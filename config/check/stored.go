package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// inStore is a CRD as this version brings it, and as the cluster has it.
type inStore struct {
	want, have apiextensionsv1.CustomResourceDefinition
	wanted     *object
}

// storage returns the version in which new objects are stored.
func storage(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Storage {
			return &crd.Spec.Versions[i]
		}
	}
	return &apiextensionsv1.CustomResourceDefinitionVersion{}
}

// outdated returns the versions, other than the storage version, in which some objects may still be stored.
func (s *inStore) outdated() []string {
	return slices.DeleteFunc(slices.Clone(s.have.Status.StoredVersions), func(v string) bool {
		return v == storage(&s.want).Name
	})
}

// unknown returns the outdated versions that this version of Portico does not know at all.
func (s *inStore) unknown() []string {
	return slices.DeleteFunc(s.outdated(), func(name string) bool {
		return slices.ContainsFunc(s.want.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == name
		})
	})
}

// inStores reads the CRDs that are there.
func (c *Cluster) inStores(ctx context.Context) ([]inStore, error) {
	wanted, err := c.names.crds()
	if err != nil {
		return nil, err
	}
	var all []inStore
	for _, o := range wanted {
		got, err := c.within(o).Get(ctx, o.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.GetName(), err)
		}
		one := inStore{wanted: o}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &one.want); err != nil {
			return nil, fmt.Errorf("read our %s: %w", o.GetName(), err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &one.have); err != nil {
			return nil, fmt.Errorf("read %s: %w", o.GetName(), err)
		}
		all = append(all, one)
	}
	return all, nil
}

// stored tells of objects that are stored as this version does not store them, and of what this version would lose.
func (c *Cluster) stored(ctx context.Context) ([]Finding, error) {
	crds, err := c.inStores(ctx)
	if err != nil {
		return nil, err
	}
	var all []Finding
	for i := range crds {
		one := &crds[i]
		if lost, err := c.losing(ctx, one); err != nil {
			return nil, err
		} else if lost != "" {
			all = append(all, Finding{State: Lacking, Says: lost, Fix: "use the portico, and the Portico, of the " +
				"newer version"})
		} else if old := one.outdated(); len(old) > 0 {
			all = append(all, Finding{
				State: Lacking, Says: one.have.Name + " may have objects stored as " + strings.Join(old, ", "),
				Fix: fixObjects + ": it writes them again in the new version",
			})
		}
	}
	if len(all) == 0 {
		return []Finding{{State: OK, Says: "as this version stores objects"}}, nil
	}
	return all, nil
}

// losing tells why the CRD must not be brought to this version; "" if it may.
func (c *Cluster) losing(ctx context.Context, s *inStore) (string, error) {
	if unknown := s.unknown(); len(unknown) > 0 {
		return fmt.Sprintf("%s has objects stored as %s, which this version does not know", s.have.Name,
			strings.Join(unknown, ", ")), nil
	}
	want, have := storage(&s.want), storage(&s.have)
	if want.Schema == nil || have.Schema == nil || have.Schema.OpenAPIV3Schema == nil ||
		want.Schema.OpenAPIV3Schema == nil {
		return "", nil
	}
	wanted, had := want.Schema.OpenAPIV3Schema.Properties["spec"], have.Schema.OpenAPIV3Schema.Properties["spec"]
	more := fieldsBeyond(nil, &wanted, &had)
	if len(more) == 0 {
		return "", nil
	}
	objects, err := c.list(ctx, s.have.Spec.Group, have.Name, s.have.Spec.Names.Plural)
	if err != nil {
		return "", err
	}
	for _, field := range more {
		if n := using(objects, field); n > 0 {
			return fmt.Sprintf("%s is of a newer version: %d objects have spec.%s, which this version would drop",
				s.have.Name, n, pathText(field)), nil
		}
	}
	return "", nil
}

// storeAnew writes every object of a CRD as it is, which stores it in the version of today, and then has the API server
// forget the others.
func (c *Cluster) storeAnew(ctx context.Context, s *inStore) error {
	objects, err := c.list(ctx, s.want.Spec.Group, storage(&s.want).Name, s.want.Spec.Names.Plural)
	if err != nil {
		return err
	}
	for i := range objects {
		_, err := c.within(&objects[i]).Patch(ctx, objects[i].GetName(), types.MergePatchType, []byte("{}"),
			metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("write %s %s again in the new version: %w", objects[i].GetKind(), objects[i].GetName(),
				err)
		}
	}
	patch := fmt.Appendf(nil, `{"status":{"storedVersions":[%q]}}`, storage(&s.want).Name)
	_, err = c.within(s.wanted).Patch(ctx, s.wanted.GetName(), types.MergePatchType, patch, metav1.PatchOptions{
		FieldManager: fieldManager,
	}, "status")
	if err != nil {
		return fmt.Errorf("have the versions of before forgotten: %w", err)
	}
	return nil
}

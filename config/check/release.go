package check

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What Helm knows the objects of a release by. It refuses to upgrade a release that brings an object which is there
// without.
const (
	managedBy   = "app.kubernetes.io/managed-by"
	releaseName = "meta.helm.sh/release-name"
	releaseIn   = "meta.helm.sh/release-namespace"
)

// join makes an object that is to be created one of the release that brought the others, if Helm did: the CRDs may have
// come with another one than the rest.
func (c *Cluster) join(ctx context.Context, o *object) error {
	other := &object{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{
		"name": "portico-operator", "namespace": c.names.namespace(),
	}}}
	switch {
	case o.GetKind() == "Namespace" && o.GetName() == c.names.namespace():
		return nil // it is there before the release
	case o.GetKind() == "CustomResourceDefinition":
		other = o.DeepCopy()
		other.SetName("awsproviders.portico.dev")
	}
	have, err := c.within(other).Get(ctx, other.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", other.GetKind(), other.GetName(), err)
	}
	sameRelease(o, have)
	return nil
}

// sameRelease makes Helm treat an object as part of another object's release. It changes nothing if that has none.
func sameRelease(o, other *object) {
	from := other.GetAnnotations()
	if from[releaseName] == "" {
		return
	}
	notes, labels := o.GetAnnotations(), o.GetLabels()
	if notes == nil {
		notes = map[string]string{}
	}
	if labels == nil {
		labels = map[string]string{}
	}
	notes[releaseName], notes[releaseIn], labels[managedBy] = from[releaseName], from[releaseIn], "Helm"
	o.SetAnnotations(notes)
	o.SetLabels(labels)
}

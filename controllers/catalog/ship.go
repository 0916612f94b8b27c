package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// fieldManager owns what Portico's own entries say. Admins own hidden, which those do not set.
const fieldManager = "portico-operator"

// Shipper writes the entries of Portico's own kinds when the operator becomes the leader. Helm cannot: it refuses
// objects of a definition that it has yet to install. A policy keeps everybody else from changing them.
type Shipper struct {
	Client  client.Client
	Entries []v1alpha1.CatalogEntry
	Log     logr.Logger
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Shipper) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable: it tries until all entries are written, or ctx ends.
func (s *Shipper) Start(ctx context.Context) error {
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: 5, Cap: 10 * time.Second}
	for {
		err := s.Write(ctx)
		if err == nil {
			return nil
		}
		s.Log.Error(err, "the entries of Portico's own kinds could not be written; trying again")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff.Step()):
		}
	}
}

// Write applies every entry that the cluster does not have as it is. The error says which failed.
func (s *Shipper) Write(ctx context.Context) error {
	failed := make([]error, len(s.Entries))
	for i := range s.Entries {
		if err := s.write(ctx, &s.Entries[i]); err != nil {
			failed[i] = fmt.Errorf("write the entry %s: %w", s.Entries[i].Name, err)
		}
	}
	return errors.Join(failed...)
}

func (s *Shipper) write(ctx context.Context, shipped *v1alpha1.CatalogEntry) error {
	var is v1alpha1.CatalogEntry
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(shipped), &is)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	want := defaulted(shipped)
	if is.Spec.Hidden = false; err == nil && equality.Semantic.DeepEqual(is.Spec, want.Spec) {
		return nil
	}
	obj, err := applied(want)
	if err != nil {
		return err
	}
	return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner(fieldManager),
		client.ForceOwnership)
}

// defaulted returns the entry with the defaults of the definition, for the comparison with that of the cluster.
func defaulted(e *v1alpha1.CatalogEntry) *v1alpha1.CatalogEntry {
	e = e.DeepCopy()
	e.Spec.Writers = cmp.Or(e.Spec.Writers, v1alpha1.WritersTeams)
	if len(e.Spec.Verbs) == 0 {
		e.Spec.Verbs = entry.AllVerbs()
	}
	return e
}

// applied returns the entry without what it leaves to others.
func applied(e *v1alpha1.CatalogEntry) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(e.Spec)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindCatalogEntry))
	obj.SetName(e.Name)
	obj.SetLabels(map[string]string{"app.kubernetes.io/name": "portico", "app.kubernetes.io/component": "platform"})
	return obj, nil
}

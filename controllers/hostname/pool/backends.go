package pool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// Kinds, in addition to routes, from which the controller builds its model of the load balancer. An IPv6 Service, or a
// TargetGroupConfiguration that does not match its Service, stops it just as a route can. Controller:
// model/model_build_target_group.go.
var (
	services       = corev1.SchemeGroupVersion.WithKind("ServiceList")
	configurations = albconfig.GroupVersion.WithKind("TargetGroupConfigurationList")
)

// addBackends adds the Services that routes name, and the TargetGroupConfigurations of their namespaces, to the
// digests. They are not cached, so their metadata is read from the API server. Hostnames that are closed for their
// routes' content or needs are skipped, so there are at most as many namespaces as target groups.
func (r *reconciliation) addBackends(ctx context.Context) error {
	spaces := map[string]bool{}
	for _, m := range r.members {
		d := r.demands[m.claim]
		if r.closedFor(m) != nil {
			d.backends = nil
			r.demands[m.claim] = d
		}
		for key := range d.backends {
			spaces[key.Namespace] = true
		}
	}
	of := map[string][]string{} // by namespace and name of a Service, or by namespace alone
	for namespace := range spaces {
		found, err := r.versions(ctx, services, namespace)
		if err != nil {
			return err
		}
		for name, version := range found {
			of[namespace+"/"+name] = []string{version}
		}
		if found, err = r.versions(ctx, configurations, namespace); err != nil {
			return err
		}
		of[namespace] = slices.Sorted(maps.Values(found))
	}
	for claim, d := range r.demands {
		d.addVersions(of)
		r.demands[claim] = d
	}
	return nil
}

// versions returns the versions of a kind's objects in a namespace, by name; empty if the cluster does not have the
// kind.
func (r *reconciliation) versions(ctx context.Context, kind schema.GroupVersionKind, namespace string) (
	map[string]string, error,
) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	if err := r.Applier.APIReader.List(ctx, list, client.InNamespace(namespace)); err != nil &&
		!meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("look for the versions of what routes name in %s: %w", namespace, err)
	}
	all := map[string]string{}
	for i := range list.Items {
		o := &list.Items[i]
		version := strconv.FormatInt(o.Generation, 10)
		if o.Generation == 0 { // Services have none
			version = o.ResourceVersion
		}
		all[o.Name] = string(o.UID) + "/" + version
	}
	return all, nil
}

// addVersions adds the versions of the objects that the routes name to the digest.
func (d *demand) addVersions(of map[string][]string) {
	if d.digest == "" {
		return
	}
	sum, spaces := sha256.New(), map[string]bool{}
	_, _ = fmt.Fprintln(sum, d.digest)
	for _, key := range slices.SortedFunc(maps.Keys(d.backends), func(a, b client.ObjectKey) int {
		return strings.Compare(a.String(), b.String())
	}) {
		_, _ = fmt.Fprintln(sum, key, of[key.String()])
		if !spaces[key.Namespace] {
			spaces[key.Namespace] = true
			_, _ = fmt.Fprintln(sum, of[key.Namespace])
		}
	}
	d.digest = hex.EncodeToString(sum.Sum(nil)[:8])
}

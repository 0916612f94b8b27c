// Package holdup finds why a requested object could not become Ready at present: an AWS account that the team cannot
// use or that is not ready, resources missing in the account, and missing objects. The API server cannot check these;
// reviews and dry runs report them.
package holdup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/teams"
)

// most bounds the look-ups for one object, in the cluster and in AWS each.
const most = 20

// Finder checks requests with the rights of a caller. Team is the name of the namespace's team in messages.
type Finder struct {
	Cluster         *cluster.Cluster
	ID              auth.Identity
	Kind            catalog.Kind
	Namespace, Team string
}

// Find returns, as sentences, what the object would wait for. It reveals nothing that the caller cannot see.
func (f Finder) Find(ctx context.Context, obj *unstructured.Unstructured) ([]string, error) {
	all, err := f.account(ctx, obj)
	if err != nil || len(all) > 0 {
		return all, err // the account's values would be another account's
	}
	if all, err = f.lacking(ctx, obj); err != nil {
		return nil, err
	}
	var targets []catalog.Target
	for _, ref := range f.Kind.Refers {
		targets = append(targets, ref.Targets(obj)...)
	}
	for _, t := range targets[:min(len(targets), most)] {
		why, err := f.target(ctx, obj, t)
		if err != nil {
			return nil, err
		}
		if why != "" && !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return all, nil
}

// target reports that a referenced object does not exist, is being deleted, or has the wrong properties.
func (f Finder) target(ctx context.Context, obj *unstructured.Unstructured, t catalog.Target) (string, error) {
	kind, ok := f.Cluster.Kinds.Now().ByName(t.Kind)
	if !ok {
		return "", nil
	}
	ref := catalog.Ref{Kind: kind, Name: t.Name}
	if kind.Namespaced {
		ref.Namespace = f.Namespace
	}
	there, err := f.Cluster.Objects.Get(ctx, f.ID, ref)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("It names the %s %s, which is not there yet: it waits until somebody requests it.",
			kind.Noun(), t.Name), nil
	case failure.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", err
	case there.GetDeletionTimestamp() != nil:
		return fmt.Sprintf("It names the %s %s, which is being deleted.", kind.Noun(), t.Name), nil
	case !needsUser(obj, t):
		return "", nil
	}
	_, why, err := f.Cluster.Operator.OwnUsers(ctx, there)
	if err != nil || why == "" {
		return "", err
	}
	return fmt.Sprintf("It needs a user of its own in the database %s, and there can be none: %s.", t.Name, why), nil
}

// account reports that the team cannot use the object's AWS account, or not its region, or that the account is not
// ready.
func (f Finder) account(ctx context.Context, obj *unstructured.Unstructured) ([]string, error) {
	name := catalog.TextAt(obj, "spec", "providerRef", "name")
	if name == "" || !f.Kind.Namespaced {
		return nil, nil
	}
	open, err := f.Cluster.Teams.Providers(ctx, f.ID, f.Kind, f.Namespace)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(open, func(o teams.Provider) bool { return o.Name == name })
	if i < 0 {
		return []string{fmt.Sprintf("%s cannot use an AWS account %s: choose another one, or ask a platform admin to "+
			"open it.", f.Team, name)}, nil
	}
	region := catalog.TextAt(obj, "spec", "region")
	if all := open[i].Regions(); region != "" && region != open[i].Region && !slices.Contains(all, region) {
		return []string{fmt.Sprintf("The AWS account %s allows %s, and not %s.", name, strings.Join(all, ", "),
			region)}, nil
	}
	if !open[i].Ready {
		return []string{fmt.Sprintf("The AWS account %s is not ready: it waits until a platform admin has "+
			"repaired that.", name)}, nil
	}
	return nil, nil
}

// lacking returns the values that do not exist in the account or that the namespace cannot use, for the fields with
// complete lists.
func (f Finder) lacking(ctx context.Context, obj *unstructured.Unstructured) (all []string, err error) {
	provider := catalog.TextAt(obj, "spec", "providerRef", "name")
	for _, field := range f.Kind.Whole {
		values := valuesOf(obj, field)
		if len(values) == 0 || provider == "" {
			continue
		}
		has, err := f.Cluster.Operator.Offers(ctx, f.ID, f.Kind, f.query(obj, provider, field))
		switch {
		case failure.IsForbidden(err):
			return all, nil
		case err != nil:
			return nil, err
		case !has.Known || has.Pending || has.Error != "":
			continue // the operator checks again, and reports it
		}
		for _, value := range values[:min(len(values), most)] {
			if !slices.ContainsFunc(has.Items, func(o operatorapi.Offer) bool { return o.Value == value }) {
				all = append(all, fmt.Sprintf("spec.%s: the AWS account %s has no %s that %s can use, by a list that "+
					"is five minutes old at most. Choose another one, or ask a platform admin to allow it.", field,
					provider, value, f.Team))
			}
		}
	}
	return all, nil
}

// query returns the query for the account's values of a field, with the values in obj of the fields on which they
// depend.
func (f Finder) query(obj *unstructured.Unstructured, provider, field string) operatorapi.OfferQuery {
	q := operatorapi.OfferQuery{
		Namespace: f.Namespace, Provider: provider, Field: field,
		Region: catalog.TextAt(obj, "spec", "region"), With: map[string]string{},
	}
	for _, name := range f.Kind.Offers[field] {
		q.With[name] = catalog.TextAt(obj, "spec", name)
	}
	return q
}

// valuesOf returns the values of a field of spec: a string or a list of strings.
func valuesOf(obj *unstructured.Unstructured, field string) []string {
	if text := catalog.TextAt(obj, "spec", field); text != "" {
		return []string{text}
	}
	list, _, _ := unstructured.NestedStringSlice(obj.Object, "spec", field)
	return list
}

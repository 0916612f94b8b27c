package people

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// rights checks in Kubernetes what a person may do. It caches nothing: each answer is for one request.
type rights struct {
	reviews authorizationclient.SubjectAccessReviewInterface
}

// right is a right that a person may have.
type right struct{ verb, group, resource, namespace, name string }

// toRead returns the right to get a Secret in Kubernetes.
func toRead(namespace, name string) right {
	return right{verb: "get", resource: "secrets", namespace: namespace, name: name}
}

// onValues returns a right on secret values, a resource that only exists in RBAC.
func onValues(verb, namespace, name string) right {
	return right{
		verb: verb, group: operatorapi.ValuesGroup, resource: operatorapi.ValuesResource, namespace: namespace,
		name: name,
	}
}

// onDatabase returns a right to sign in to a database, a resource that only exists in RBAC.
func onDatabase(verb string, of types.NamespacedName) right {
	return right{
		verb: verb, group: operatorapi.ValuesGroup, resource: operatorapi.DatabaseResource, namespace: of.Namespace,
		name: of.Name,
	}
}

// inDatabase returns the access that the person's own user gets in a database, "" for the master password, or an
// *Error. The master password is for people who ask for it and have the right, and for people who may get the binding
// Secret and have no right to a user.
func (r rights) inDatabase(ctx context.Context, id identity.Identity, of types.NamespacedName, secret string,
	master bool,
) (v1alpha1.BindingAccess, error) {
	type choice struct {
		right  right
		access v1alpha1.BindingAccess
	}
	choices := []choice{
		{onDatabase(operatorapi.WriteVerb, of), v1alpha1.AccessReadWrite}, {onDatabase(operatorapi.ReadVerb, of), v1alpha1.AccessRead},
	}
	if master {
		choices = []choice{{right: onDatabase(operatorapi.MasterVerb, of)}}
	}
	for _, c := range append(choices, choice{right: toRead(of.Namespace, secret)}) {
		if ok, err := r.has(ctx, id, c.right); ok || err != nil {
			return c.access, err
		}
	}
	return "", forbidden(choices[len(choices)-1].right)
}

func (r rights) has(ctx context.Context, id identity.Identity, to right) (bool, error) {
	groups := append(slices.Clone(id.Groups), "system:authenticated")
	answer, err := r.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: id.Username, Groups: groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: to.verb, Group: to.group, Version: "*", Resource: to.resource, Namespace: to.namespace,
				Name: to.name,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, unavailable(reasonOf(err))
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

// require returns an *Error unless the person has the right.
func (r rights) require(ctx context.Context, id identity.Identity, to right) error {
	ok, err := r.has(ctx, id, to)
	if err == nil && !ok {
		err = forbidden(to)
	}
	return err
}

// change returns what the person may do with the values of the Secret, or an *Error if nothing.
func (r rights) change(ctx context.Context, id identity.Identity, namespace, name string) (may May, err error) {
	if may.Create, err = r.has(ctx, id, onValues("create", namespace, name)); err != nil {
		return may, err
	}
	update := onValues("update", namespace, name)
	if may.Update, err = r.has(ctx, id, update); err != nil {
		return may, err
	}
	if !may.Create && !may.Update {
		return may, forbidden(update)
	}
	return may, nil
}

// names returns an *Error unless the person may know the names of Secrets. The right to list values permits it, and so
// does the right to update them, since setting a value requires the name. Neither discloses a value.
func (r rights) names(ctx context.Context, id identity.Identity, namespace string) error {
	ok, err := r.has(ctx, id, onValues("update", namespace, ""))
	if ok || err != nil {
		return err
	}
	return r.require(ctx, id, onValues("list", namespace, ""))
}

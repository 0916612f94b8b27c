package people

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/portico-platform/portico/api/identity"
)

// rights asks Kubernetes what a person may do. Answers are not kept: each is for one act.
type rights struct {
	reviews authorizationclient.SubjectAccessReviewInterface
}

// right is one that a person may have.
type right struct{ verb, group, resource, namespace, name string }

func onSecret(verb, namespace, name string) right {
	return right{verb: verb, resource: "secrets", namespace: namespace, name: name}
}

func (r rights) has(ctx context.Context, id identity.Identity, to right) (bool, error) {
	groups := append(slices.Clone(id.Groups), "system:authenticated")
	answer, err := r.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: id.Username, Groups: groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: to.verb, Group: to.group, Version: "*", Resource: to.resource, Namespace: to.namespace, Name: to.name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, unavailable(reasonOf(err))
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

// require returns an *Error unless the person has the right to the Secret, or all of them where the name is empty.
func (r rights) require(ctx context.Context, id identity.Identity, verb, namespace, name string) error {
	ok, err := r.has(ctx, id, onSecret(verb, namespace, name))
	if err == nil && !ok {
		err = forbidden(verb, namespace)
	}
	return err
}

// change returns what the person may do with the Secret; an *Error if neither.
func (r rights) change(ctx context.Context, id identity.Identity, namespace, name string) (may May, err error) {
	if may.Create, err = r.has(ctx, id, onSecret("create", namespace, name)); err != nil {
		return may, err
	}
	if may.Update, err = r.has(ctx, id, onSecret("update", namespace, name)); err != nil {
		return may, err
	}
	if !may.Create && !may.Update {
		return may, forbidden("update", namespace)
	}
	return may, nil
}

// names returns an *Error unless the person may know the names of Secrets: who may list them all, or update them, for whoever sets a value
// must know where, and learns no value by it.
func (r rights) names(ctx context.Context, id identity.Identity, namespace string) error {
	ok, err := r.has(ctx, id, onSecret("update", namespace, ""))
	if ok || err != nil {
		return err
	}
	return r.require(ctx, id, "list", namespace, "")
}

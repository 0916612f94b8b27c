package rest

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// wantQuery refuses a query that cannot be read, whose parts Go would leave out, and a dryRun that is anything but one
// All: who says dryRun does not want the real thing.
func wantQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeProblem(w, r, http.StatusUnprocessableEntity, "the query of the URL cannot be read: separate parameters by & and escape other characters",
			&huma.ErrorDetail{Location: "query", Message: "is malformed"})
		return
	}
	if dry, asked := query["dryRun"]; asked && !slices.Equal(dry, []string{"All"}) {
		writeProblem(w, r, http.StatusUnprocessableEntity, "dryRun must be All, once; leave it out to do it for real",
			&huma.ErrorDetail{Location: "query.dryRun", Message: "must be All, once", Value: dry})
		return
	}
	next(ctx)
}

// allowed is nil if the caller may do verb on the kind in namespace, a *cluster.ForbiddenError if not.
func (a *API) allowed(ctx context.Context, verb string, k catalog.Kind, namespace string) error {
	if err := possibleNamespace(verb, k, namespace); err != nil {
		return err
	}
	may, err := a.cluster.Can(ctx, caller(ctx), verb, k, namespace)
	if err == nil && !may {
		err = &cluster.ForbiddenError{Verb: verb, Resource: k.Plural, Namespace: namespace}
	}
	return err
}

// possible refuses what no object can be called, before Kubernetes is asked: names become part of a URL there. Callers
// with the right hear that there is no such object, others that they may not.
func (a *API) possible(ctx context.Context, verb string, ref cluster.Ref) error {
	if err := a.allowed(ctx, verb, ref.Kind, ref.Namespace); err != nil {
		return err
	}
	if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
	}
	return nil
}

// possibleNamespace refuses what no namespace can be called; nobody has rights there.
func possibleNamespace(verb string, k catalog.Kind, namespace string) error {
	if k.Namespaced && !isNamespace(namespace) {
		return &cluster.ForbiddenError{Verb: verb, Resource: k.Plural, Namespace: namespace}
	}
	return nil
}

func isNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// noNamespace is the answer to a query for what no namespace can be called.
func noNamespace(ctx context.Context, name string) error {
	return problem(ctx, http.StatusUnprocessableEntity, "there can be no such namespace", &huma.ErrorDetail{
		Location: "query.namespace", Message: "use lower-case letters, digits and hyphens", Value: name,
	})
}

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
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// wantQuery refuses a malformed query, parts of which Go would ignore, and repeated or empty parameters, of which huma
// would use the first value or the default: a client that sends dryRun in any form must not cause a real write.
func wantQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeProblem(w, r, http.StatusUnprocessableEntity, "the query of the URL cannot be read: separate parameters "+
			"by & and escape other characters",
			&huma.ErrorDetail{Location: "query", Message: "is malformed"})
		return
	}
	for _, p := range ctx.Operation().Parameters {
		values, sent := query[p.Name]
		if p.In != "query" || !sent {
			continue
		}
		var message string
		switch {
		case len(values) > 1:
			message = "must be given once"
		case values[0] == "" && !takesNothing(p.Schema):
			message = "must not be empty: give it a value, or leave it out"
		default:
			continue
		}
		writeProblem(w, r, http.StatusUnprocessableEntity, p.Name+" "+message,
			&huma.ErrorDetail{Location: "query." + p.Name, Message: message, Value: values})
		return
	}
	next(ctx)
}

// takesNothing reports whether the schema of a single value accepts "".
func takesNothing(s *huma.Schema) bool {
	return s.Type == huma.TypeString && (s.MinLength == nil || *s.MinLength == 0) &&
		(len(s.Enum) == 0 || slices.Contains(s.Enum, any("")))
}

// allowed returns a *failure.ForbiddenError unless the caller can do verb on the kind in namespace.
func (a *API) allowed(ctx context.Context, verb string, ref catalog.Ref) error {
	if err := possibleNamespace(verb, ref.Kind, ref.Namespace); err != nil {
		return err
	}
	return a.cluster.Rights.Require(ctx, caller(ctx), verb, ref)
}

// allowedOne returns a *failure.ForbiddenError unless the caller can do verb with one object. For a cluster-scoped kind
// a right to that object alone is enough: members have such a right to their Team.
func (a *API) allowedOne(ctx context.Context, verb string, ref catalog.Ref) error {
	if err := possibleNamespace(verb, ref.Kind, ref.Namespace); err != nil {
		return err
	}
	if impossible(ref.Name) {
		return a.cluster.Rights.Require(ctx, caller(ctx), verb, ref)
	}
	return a.cluster.Rights.RequireOne(ctx, caller(ctx), verb, ref)
}

// impossible reports whether no object can have the name.
func impossible(name string) bool { return len(validation.IsDNS1123Subdomain(name)) > 0 }

// possible refuses invalid object names before a request to Kubernetes, because names become part of a URL there.
// Callers with the right get 404, others 403.
func (a *API) possible(ctx context.Context, verb string, ref catalog.Ref) error {
	if err := a.allowedOne(ctx, verb, ref); err != nil {
		return err
	}
	if impossible(ref.Name) {
		return apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
	}
	return nil
}

// possibleNamespace refuses invalid namespace names; nobody has rights there.
func possibleNamespace(verb string, k catalog.Kind, namespace string) error {
	if k.Namespaced && !isNamespace(namespace) {
		return &failure.ForbiddenError{Verb: verb, Resource: k.Plural, Namespace: namespace}
	}
	return nil
}

func isNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// isObjectName reports whether the name is a valid object name, because it becomes part of a request's path.
func isObjectName(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 }

// noNamespace returns the problem document for an invalid namespace name in a query.
func noNamespace(ctx context.Context, name string) error {
	return problem(ctx, http.StatusUnprocessableEntity, "there can be no such namespace", &huma.ErrorDetail{
		Location: "query.namespace", Message: "use lower-case letters, digits and hyphens", Value: name,
	})
}

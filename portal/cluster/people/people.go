// Package people sends the requests of users about Secrets and passwords to the operator.
package people

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/rds"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/operator"
)

// The portal has no right to Secrets, neither itself nor by impersonation. The operator reads and writes them for
// users: the portal passes on the user's token, which the operator verifies itself.

// People sends users' requests. It is safe for concurrent use.
type People struct {
	rights   *rights.Rights
	operator *operator.Client
	log      *slog.Logger
}

// New returns People.
func New(may *rights.Rights, client *operator.Client, log *slog.Logger) *People {
	return &People{rights: may, operator: client, log: log}
}

// secretsResource is the RBAC resource of Secrets.
const secretsResource = "secrets"

// errand is a request to the operator, and its names in the log.
type errand struct {
	method, path                    string
	body                            any
	verb, resource, namespace, name string
}

// Secrets returns the Secrets of a namespace whose values users set, without values. Errors are *failure.PersonError
// and *failure.UnavailableError.
func (p *People) Secrets(ctx context.Context, id auth.Identity, namespace string) (operatorapi.SecretList, error) {
	var out operatorapi.SecretList
	_, err := p.ask(ctx, id, errand{
		method: http.MethodGet, path: operatorapi.NamespaceSecretsPath(namespace), verb: "list",
		resource: secretsResource, namespace: namespace,
	}, &out)
	return out, err
}

// SetSecret sets and removes values of a Secret, and creates the Secret if needed. Errors are as for Secrets.
func (p *People) SetSecret(ctx context.Context, id auth.Identity, namespace, name string,
	change operatorapi.SecretChange,
) (operatorapi.Secret, error) {
	var out operatorapi.Secret
	_, err := p.ask(ctx, id, errand{
		method: http.MethodPatch, path: operatorapi.SecretPath(namespace, name), body: change,
		verb: "patch", resource: secretsResource, namespace: namespace, name: name,
	}, &out)
	return out, err
}

// DeleteSecret deletes a Secret whose values users set. A Secret in use is deleted only if confirm is its name. Errors
// are as for Secrets.
func (p *People) DeleteSecret(ctx context.Context, id auth.Identity, namespace, name, confirm string) (
	operatorapi.Secret, error,
) {
	path := operatorapi.SecretPath(namespace, name)
	if confirm != "" {
		path += "?" + url.Values{"confirm": {confirm}}.Encode()
	}
	var out operatorapi.Secret
	_, err := p.ask(ctx, id, errand{
		method: http.MethodDelete, path: path, verb: "delete", resource: secretsResource,
		namespace: namespace, name: name,
	}, &out)
	return out, err
}

// Reveal returns the password of an object. For a database it is that of the caller's own database user, unless master
// is set. The operator records it. Errors are as for Secrets.
func (p *People) Reveal(ctx context.Context, id auth.Identity, ref catalog.Ref, master bool) (
	operatorapi.Password, error,
) {
	path := operatorapi.PasswordPath(ref.Kind.Name, ref.Namespace, ref.Name)
	if master {
		path += "?" + operatorapi.AsMaster
	}
	var out operatorapi.Password
	_, err := p.ask(ctx, id, errand{
		method: http.MethodPost, path: path,
		verb: "reveal", resource: ref.Kind.Plural, namespace: ref.Namespace, name: ref.Name,
	}, &out)
	return out, err
}

// ServesPeople returns nil if the operator handles users' requests about Secrets, else a *failure.PersonError with the
// reason. An operator that does not list the feature counts as handling them.
func (p *People) ServesPeople(ctx context.Context) error {
	features := p.operator.Features(ctx)
	if !features.Known {
		return &failure.PersonError{
			Status: http.StatusServiceUnavailable, Detail: OperatorAway,
			Resource: secretsResource,
		}
	}
	for _, f := range features.Items {
		if f.Name == operatorapi.FeaturePeople && !f.On {
			return &failure.PersonError{Status: http.StatusNotImplemented, Detail: f.Why, Resource: secretsResource}
		}
	}
	return nil
}

// toValues returns a right to the values of a Secret, or with an empty name of all Secrets. The resource exists in RBAC
// only.
func toValues(verb, namespace, name string) rights.Right {
	return rights.Right{
		Verb: verb, Group: operatorapi.ValuesGroup, Resource: operatorapi.ValuesResource, Namespace: namespace,
		Object: name,
	}
}

// MayValues reports whether the caller can do verb (create, update, list) with the values of the named Secret, or with
// an empty name of all Secrets. It decides what pages offer; the operator checks again.
func (p *People) MayValues(ctx context.Context, id auth.Identity, verb, namespace, name string) (bool, error) {
	return p.rights.Allowed(ctx, id, toValues(verb, namespace, name))
}

// RequireValues returns a *failure.ForbiddenError where MayValues returns false.
func (p *People) RequireValues(ctx context.Context, id auth.Identity, verb, namespace, name string) error {
	return p.rights.RequireRight(ctx, id, toValues(verb, namespace, name))
}

// Passwords says which passwords of an object a user can see.
type Passwords struct {
	// Own is the access of the user's own database user; empty if the user cannot have one.
	Own v1alpha1.BindingAccess
	// Object reports the password in the connection details: for a database the master password.
	Object bool
	// NoOwn is why nobody can have a database user of their own; empty if users can.
	NoOwn string
}

// Passwords returns which passwords of an object, whose connection details are in the Secret, the caller can see. It
// decides what pages offer; the operator checks again.
func (p *People) Passwords(ctx context.Context, id auth.Identity, of catalog.Ref, obj *unstructured.Unstructured,
	secret string,
) (may Passwords, err error) {
	if of.Kind.ID() == v1alpha1.KindRDSInstance {
		db := &v1alpha1.RDSInstance{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, db); err != nil {
			return may, fmt.Errorf("read the database: %w", err)
		}
		if may.NoOwn = rds.NoOwnUsers(&db.Spec); may.NoOwn == "" {
			may.Own, err = p.ownAccess(ctx, id, of)
		}
		if err != nil {
			return may, err
		}
		if may.Object, err = p.rights.Allowed(ctx, id, onDatabase(operatorapi.MasterVerb, of)); may.Object ||
			err != nil {
			return may, err
		}
	}
	may.Object, err = p.rights.Allowed(
		ctx, id, rights.Right{Verb: "get", Resource: secretsResource, Namespace: of.Namespace, Object: secret})
	return may, err
}

// ownAccess returns the access that the caller's own database user has; empty if the caller cannot have one.
func (p *People) ownAccess(ctx context.Context, id auth.Identity, of catalog.Ref) (v1alpha1.BindingAccess, error) {
	for _, own := range []struct {
		verb   string
		access v1alpha1.BindingAccess
	}{{operatorapi.WriteVerb, v1alpha1.AccessReadWrite}, {operatorapi.ReadVerb, v1alpha1.AccessRead}} {
		if ok, err := p.rights.Allowed(ctx, id, onDatabase(own.verb, of)); ok || err != nil {
			return own.access, err
		}
	}
	return "", nil
}

// onDatabase returns a right to sign in to a database, a resource that exists in RBAC only.
func onDatabase(verb string, of catalog.Ref) rights.Right {
	return rights.Right{
		Verb: verb, Group: operatorapi.ValuesGroup, Resource: operatorapi.DatabaseResource,
		Namespace: of.Namespace, Object: of.Name,
	}
}

// OperatorAway is the message for an operator that does not answer.
const OperatorAway = "Portico's operator does not answer at the moment; try again"

// ask sends the request to the operator, and records it in the request's audit event.
func (p *People) ask(ctx context.Context, id auth.Identity, e errand, out any) (int, error) {
	status, err := p.carry(ctx, id, e, out)
	if e.verb != "list" {
		auth.NoteWrite(ctx, auth.Write{
			Verb: e.verb, Resource: e.resource, Namespace: e.namespace, Name: e.name,
			Outcome: failure.OutcomeOf(err),
		})
	}
	return status, err
}

func (p *People) carry(ctx context.Context, id auth.Identity, e errand, out any) (int, error) {
	told := func(status int, detail string) error {
		return &failure.PersonError{
			Status: status, Detail: detail, Verb: e.verb, Resource: e.resource, Namespace: e.namespace,
			Name: e.name,
		}
	}
	if id.ServiceAccount {
		return 0, told(http.StatusForbidden, "this is for people who sign in: a ServiceAccount works with Secrets by "+
			"the API server, with rights of its own")
	}
	token := auth.Token(ctx)
	if token == "" {
		return 0, told(http.StatusUnauthorized, "sign in again to confirm: the operator wants to see your own token")
	}
	status, err := p.operator.Do(ctx, operator.Errand{
		Method: e.method, Path: e.path, Body: e.body, Token: token, Request: auth.RequestID(ctx),
		Address: auth.AddressOf(ctx),
	}, out)
	if refused, ok := errors.AsType[*operator.RefusedError](err); ok {
		return 0, told(refused.Status, refused.Detail)
	}
	if err != nil {
		p.log.ErrorContext(ctx, "the operator could not be asked for a person", "error", err, "requestID",
			auth.RequestID(ctx))
		return 0, told(http.StatusServiceUnavailable, OperatorAway)
	}
	return status, nil
}

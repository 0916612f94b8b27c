package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

type secretsInput struct {
	Namespace string `path:"namespace" doc:"Namespace of the team."`
}

// SecretPath identifies a Secret.
type SecretPath struct {
	Namespace string `path:"namespace" doc:"Namespace of the team."`
	Name      string `path:"name" doc:"Name of the Secret."`
}

type setSecretInput struct {
	SecretPath
	RawBody []byte `contentType:"application/merge-patch+json"`
}

type deleteSecretInput struct {
	SecretPath
	Confirm string `query:"confirm" doc:"The name, which confirms the deletion of a Secret that is in use."`
}

type secretsOutput struct {
	Body secretList
}

type secretList struct {
	Items []secretValues `json:"items"`
}

type secretOutput struct {
	Body secretValues
}

type secretValues struct {
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	Keys    []secretKey `json:"keys" doc:"Sorted. There is no way to read their values here."`
	UsedBy  []secretUse `json:"usedBy,omitempty" doc:"Objects whose spec names the Secret, as far as the caller can list them."`
}

type secretKey struct {
	Name  string     `json:"name"`
	SetAt *time.Time `json:"setAt,omitempty" doc:"When it was set through Portico; absent if it was set in another way."`
	SetBy string     `json:"setBy,omitempty" doc:"By whom, as Kubernetes RBAC knows the user."`
}

type secretUse struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Effect string `json:"effect" doc:"When the object takes a new value."`
}

const secretWords = "It runs with the caller's own rights to `secretvalues.portico.dev` in Kubernetes, which the " +
	"operator asks for, and touches only Secrets of type Opaque with the label " +
	operatorapi.LabelSecretValues + "=" + operatorapi.SecretValues + ". It is for people: tokens of ServiceAccounts " +
	"are refused."

// secretErrors are the operator's statuses; 501 if it does not handle Secrets.
var secretErrors = with(always, http.StatusNotFound, http.StatusConflict, http.StatusNotImplemented)

func secretBody() *huma.RequestBody {
	return &huma.RequestBody{
		Required: true, Description: "What is to change; other keys stay. 1 MiB at most, and so the values of a " +
			"Secret together.",
		Content: map[string]*huma.MediaType{mergePatch: {Schema: &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
				"values": {
					Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString, Nullable: true},
					Description: "Values by key, as text; null removes a key.",
				},
				"base64": {
					Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString},
					Description: "Values by key that are no text, in base64.",
				},
			},
		}}},
	}
}

func (a *API) listSecrets(ctx context.Context, in *secretsInput) (*secretsOutput, error) {
	if !isNamespace(in.Namespace) {
		return nil, a.fail(ctx, &failure.ForbiddenError{
			Verb: "list", Resource: operatorapi.ValuesResource,
			Namespace: in.Namespace,
		})
	}
	all, err := a.cluster.People.Secrets(ctx, caller(ctx), in.Namespace)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &secretsOutput{Body: secretList{Items: make([]secretValues, 0, len(all.Items))}}
	for _, s := range all.Items {
		out.Body.Items = append(out.Body.Items, secretOf(s))
	}
	return out, nil
}

func (a *API) setSecret(ctx context.Context, in *setSecretInput) (*secretOutput, error) {
	if err := a.nameable(ctx, "update", in.SecretPath); err != nil {
		return nil, err
	}
	change, why := changeOf(in.RawBody)
	if why != "" {
		return nil, problem(ctx, http.StatusBadRequest, why)
	}
	set, err := a.cluster.People.SetSecret(ctx, caller(ctx), in.Namespace, in.Name, change)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &secretOutput{Body: secretOf(set)}, nil
}

func (a *API) deleteSecret(ctx context.Context, in *deleteSecretInput) (*secretOutput, error) {
	if err := a.nameable(ctx, "update", in.SecretPath); err != nil {
		return nil, err
	}
	was, err := a.cluster.People.DeleteSecret(ctx, caller(ctx), in.Namespace, in.Name, in.Confirm)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &secretOutput{Body: secretOf(was)}, nil
}

// nameable refuses a name that would result in another path at the operator, with the same response as for a missing
// right.
func (a *API) nameable(ctx context.Context, verb string, in SecretPath) error {
	if !isNamespace(in.Namespace) {
		return a.fail(ctx, &failure.ForbiddenError{
			Verb: verb, Resource: operatorapi.ValuesResource, Namespace: in.Namespace,
		})
	}
	if !isObjectName(in.Name) {
		return problem(ctx, http.StatusUnprocessableEntity, "no Secret can have this name: use small letters, "+
			"digits, - and .",
			&huma.ErrorDetail{Location: "path.name", Message: "is not the name of a Secret"})
	}
	return nil
}

// changeOf parses a change. why is what is wrong with the body, and never contains any of its content.
func changeOf(body []byte) (change operatorapi.SecretChange, why string) {
	var said map[string]map[string]*string
	if json.Unmarshal(body, &said) != nil {
		return change,
			`want {"values": {"KEY": "VALUE"}}, where null instead of a value removes a key; the body is not repeated here`
	}
	change.Set = map[string][]byte{}
	for part, values := range said {
		for key, value := range values {
			if why = addValue(&change, part, key, value); why != "" {
				return change, why
			}
		}
		if part != "values" && part != "base64" {
			return change, "there is values, and base64 for what is no text; the body has something else too"
		}
	}
	slices.Sort(change.Remove)
	return change, ""
}

func addValue(change *operatorapi.SecretChange, part, key string, value *string) (why string) {
	if _, twice := change.Set[key]; twice {
		return "the key " + short(key) + " is in values and in base64: choose one"
	}
	switch {
	case value == nil:
		change.Remove = append(change.Remove, key)
	case part == "base64":
		raw, err := base64.StdEncoding.DecodeString(*value)
		if err != nil {
			return "the value of " + short(key) + " in base64 cannot be decoded"
		}
		change.Set[key] = raw
	default:
		change.Set[key] = []byte(*value)
	}
	return ""
}

// short shortens an arbitrary key for an error message.
func short(key string) string {
	if len(key) > 80 {
		return key[:80] + "…"
	}
	return key
}

func secretOf(s operatorapi.Secret) secretValues {
	out := secretValues{Name: s.Name, Created: s.Created, Keys: make([]secretKey, 0, len(s.Keys))}
	for _, k := range s.Keys {
		out.Keys = append(out.Keys, secretKey{Name: k.Name, SetAt: k.SetAt, SetBy: k.SetBy})
	}
	for _, u := range s.UsedBy {
		out.UsedBy = append(out.UsedBy, secretUse{Kind: u.Kind, Name: u.Name, Effect: u.Effect})
	}
	return out
}

type revealOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         password
}

type password struct {
	Password string `json:"password"`
	Username string `json:"username,omitempty"`
	Host     string `json:"host,omitempty"`
	Port     string `json:"port,omitempty"`
	Database string `json:"database,omitempty"`
	Type     string `json:"type,omitempty" doc:"Of the binding, such as postgresql."`
	Access   string `json:"access,omitempty" doc:"What the caller's own user may do in the database: Read or ReadWrite. Absent where the password is the object's."`
	// ExpiresAt is set together with Access.
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the caller's own user is dropped."`
}

type revealInput struct {
	Place
	Master bool `query:"master" doc:"Of a database: show the master password, and not that of a user of the caller's own. It is for owners."`
}

// revealWords describe showing a password in the document.
const revealWords = "Of a database it is the password of a user of the caller's own, which reads, and for owners " +
	"writes; it is created when it is asked for, and dropped 24 hours after it was asked for last. Other " +
	"passwords take the right to get the object's binding Secret. The token must be five minutes old at most. " +
	"The operator's audit log records that the caller was shown it, and by an Event about the object. It is for " +
	"people: tokens of ServiceAccounts are refused."

func (a *API) reveal(ctx context.Context, of catalog.Ref, in *revealInput) (*revealOutput, error) {
	if !isNamespace(of.Namespace) || !isObjectName(of.Name) {
		return nil, a.fail(ctx, &failure.ForbiddenError{Verb: "get", Resource: "secrets", Namespace: of.Namespace})
	}
	got, err := a.cluster.People.Reveal(ctx, caller(ctx), of, in.Master)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &revealOutput{CacheControl: "no-store, no-transform", Body: password{
		Password: got.Password, Username: got.Username, Host: got.Host, Port: got.Port, Database: got.Database,
		Type:   got.Type,
		Access: got.Access, ExpiresAt: got.ExpiresAt,
	}}, nil
}

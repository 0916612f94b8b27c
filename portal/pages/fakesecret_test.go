package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/people"
)

// keeping is the fake operator's state of Secrets: refusal is its response to everything, answered its responses by
// verb.
type keeping struct {
	secrets  []operatorapi.Secret
	password operatorapi.Password
	refusal  *failure.PersonError
	answered map[string]*failure.PersonError
	acts     []string          // executed requests, without values
	sent     map[string]string // values that were set, by Secret and key
}

// MayValues returns false for what denied lists, such as "update secretvalues payments".
func (f *fakeCluster) MayValues(ctx context.Context, id auth.Identity, verb, namespace, _ string) (bool, error) {
	return f.Can(ctx, id, verb, catalog.Kind{Plural: operatorapi.ValuesResource}, namespace)
}

func (f *fakeCluster) RequireValues(ctx context.Context, id auth.Identity, verb, namespace, name string) error {
	may, err := f.MayValues(ctx, id, verb, namespace, name)
	if err == nil && !may {
		return &failure.ForbiddenError{
			Verb: verb, Resource: operatorapi.ValuesResource, Namespace: namespace,
			Name: name,
		}
	}
	return err
}

// Passwords leaves out what denied lists: "get secrets payments", and for databases read, write and master of
// databaseaccess.
func (f *fakeCluster) Passwords(ctx context.Context, id auth.Identity, of catalog.Ref, _ *unstructured.Unstructured,
	_ string,
) (may people.Passwords, err error) {
	has := func(verb, resource string) bool {
		ok, failed := f.Can(ctx, id, verb, catalog.Kind{Plural: resource}, of.Namespace)
		if failed != nil {
			err = failed
		}
		return ok
	}
	may.Object = has("get", "secrets")
	if of.Kind.Name == v1alpha1.KindRDSInstance {
		may.Object = may.Object || has(operatorapi.MasterVerb, operatorapi.DatabaseResource)
		switch {
		case has(operatorapi.WriteVerb, operatorapi.DatabaseResource):
			may.Own = v1alpha1.AccessReadWrite
		case has(operatorapi.ReadVerb, operatorapi.DatabaseResource):
			may.Own = v1alpha1.AccessRead
		}
	}
	return may, err
}

func (f *fakeCluster) ServesPeople(context.Context) error {
	if f.refusal != nil && f.refusal.Status >= http.StatusInternalServerError {
		return f.refusal
	}
	return nil
}

// told returns the operator's error for the request. Like the real one, it does nothing without a token.
func (f *fakeCluster) told(ctx context.Context, verb string) error {
	switch {
	case auth.Token(ctx) != freshToken:
		return &failure.PersonError{Status: http.StatusUnauthorized, Detail: "the operator wants a token"}
	case f.refusal != nil:
		return f.refusal
	case f.answered[verb] != nil:
		return f.answered[verb]
	}
	return nil
}

func (f *fakeCluster) Secrets(ctx context.Context, _ auth.Identity, _ string) (operatorapi.SecretList, error) {
	return operatorapi.SecretList{Items: f.secrets}, f.told(ctx, "list")
}

func (f *fakeCluster) SetSecret(ctx context.Context, id auth.Identity, _, name string,
	change operatorapi.SecretChange,
) (operatorapi.Secret, error) {
	if err := f.told(ctx, "update"); err != nil {
		return operatorapi.Secret{}, err
	}
	i := slices.IndexFunc(f.secrets, func(s operatorapi.Secret) bool { return s.Name == name })
	if i < 0 {
		f.secrets, i = append(f.secrets, operatorapi.Secret{Name: name, Created: noon}), len(f.secrets)
	}
	for key, value := range change.Set {
		f.acts = append(f.acts, "set "+name+"/"+key)
		if f.sent == nil {
			f.sent = map[string]string{}
		}
		f.sent[name+"/"+key] = string(value)
		f.secrets[i].Keys = slices.DeleteFunc(f.secrets[i].Keys, func(k operatorapi.SecretKey) bool {
			return k.Name == key
		})
		f.secrets[i].Keys = append(f.secrets[i].Keys, operatorapi.SecretKey{
			Name: key, SetAt: new(noon), SetBy: id.Username,
		})
	}
	for _, key := range change.Remove {
		f.acts = append(f.acts, "remove "+name+"/"+key)
		f.secrets[i].Keys = slices.DeleteFunc(f.secrets[i].Keys, func(k operatorapi.SecretKey) bool {
			return k.Name == key
		})
	}
	return f.secrets[i], nil
}

func (f *fakeCluster) DeleteSecret(ctx context.Context, _ auth.Identity, _, name, confirm string) (
	operatorapi.Secret, error,
) {
	if err := f.told(ctx, "delete"); err != nil {
		return operatorapi.Secret{}, err
	}
	for _, s := range f.secrets {
		if s.Name == name && len(s.UsedBy) > 0 && confirm != name {
			return s, &failure.PersonError{Status: http.StatusConflict, Detail: "the Secret " + name +
				" is in use: confirm with its name"}
		}
	}
	f.acts = append(f.acts, "delete "+name)
	f.secrets = slices.DeleteFunc(f.secrets, func(s operatorapi.Secret) bool { return s.Name == name })
	return operatorapi.Secret{Name: name}, nil
}

func (f *fakeCluster) Reveal(ctx context.Context, _ auth.Identity, ref catalog.Ref, master bool) (
	operatorapi.Password, error,
) {
	if err := f.told(ctx, "reveal"); err != nil {
		return operatorapi.Password{}, err
	}
	if master {
		f.acts = append(f.acts, "reveal the master of "+ref.Name)
		return f.password, nil
	}
	f.acts = append(f.acts, "reveal "+ref.Name)
	own := f.password
	own.Username, own.Access, own.ExpiresAt = "jo", "ReadWrite", new(noon.Add(24*time.Hour))
	return own, nil
}

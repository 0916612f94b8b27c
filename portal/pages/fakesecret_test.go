package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
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

package people

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// tries is how often a write is attempted when it conflicts with others.
	tries = 8
	// readsAtOnce is how many Secrets are read concurrently.
	readsAtOnce = 10
)

// Store sets values in Secrets that carry its label, and in no others. It does not check rights.
type Store struct {
	Secrets coreclient.SecretsGetter
	// System are namespaces in which it refuses to work, in addition to those of Kubernetes.
	System []string
	Now    func() time.Time
}

// May says what the person may do with the Secret.
type May struct{ Create, Update bool }

// setKey records when a key was set, and by whom.
type setKey struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// Set applies the change to an existing or a new Secret. It returns the result without values, and whether the Secret
// is new. Keys that the change does not name stay, even if others write them concurrently. Errors are *Error.
func (s *Store) Set(ctx context.Context, namespace, name string, c operatorapi.SecretChange, by string, may May) (
	set operatorapi.Secret, created bool, err error,
) {
	if err := firstOf(s.checkNamespace(namespace), checkName(name), checkChange(c)); err != nil {
		return set, false, err
	}
	created, err = again(func() (bool, error) {
		secret, err := s.find(ctx, namespace, name)
		if err != nil {
			return false, err
		}
		isNew := secret == nil
		if isNew {
			secret, err = s.create(ctx, namespace, name, c, by, may)
		} else {
			secret, err = s.update(ctx, secret, c, by, may)
		}
		if err == nil {
			set = withoutValues(secret)
		}
		return isNew, err
	})
	return set, created, err
}

func (s *Store) create(ctx context.Context, namespace, name string, c operatorapi.SecretChange, by string, may May) (
	*corev1.Secret, error,
) {
	if !may.Create {
		return nil, forbidden(onValues("create", namespace, name))
	}
	if len(c.Set) == 0 {
		return nil, problem(http.StatusNotFound, "there is no Secret %s in namespace %s, so that no key of it can be "+
			"removed", name, namespace)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels: map[string]string{operatorapi.LabelSecretValues: operatorapi.SecretValues},
		Annotations: map[string]string{
			operatorapi.AnnotationValuesSet: noted(nil, c, setKey{s.Now().UTC().Truncate(time.Second), by}),
		},
	}, Type: corev1.SecretTypeOpaque, Data: c.Set}
	if err := checkLimits(secret, operatorapi.SecretChange{}); err != nil {
		return nil, err
	}
	// Before the Secret exists: a surplus name in the list is harmless.
	if err := s.enlist(ctx, namespace, name); err != nil {
		return nil, err
	}
	return s.make(ctx, secret)
}

// make creates a Secret; it returns errTryAgain if the name is taken.
func (s *Store) make(ctx context.Context, secret *corev1.Secret) (*corev1.Secret, error) {
	made, err := s.Secrets.Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		return nil, problem(http.StatusNotFound, "there is no namespace %s", secret.Namespace)
	}
	return made, refused(err, secret.Name)
}

func (s *Store) update(ctx context.Context, secret *corev1.Secret, c operatorapi.SecretChange, by string, may May) (
	*corev1.Secret, error,
) {
	if !may.Update {
		return nil, forbidden(onValues("update", secret.Namespace, secret.Name))
	}
	if err := checkOurs(secret, operatorapi.SecretValues); err != nil {
		return nil, err
	}
	if secret.Immutable != nil && *secret.Immutable {
		return nil, problem(http.StatusConflict, "the Secret %s is immutable: delete it, then set its values again",
			secret.Name)
	}
	if err := checkLimits(secret, c); err != nil {
		return nil, err
	}
	if err := s.enlist(ctx, secret.Namespace, secret.Name); err != nil {
		return nil, err
	}
	data := map[string]any{}
	for key, value := range c.Set {
		data[key] = value
	}
	for _, key := range c.Remove {
		data[key] = nil
	}
	return s.patch(ctx, secret, data, map[string]string{
		operatorapi.AnnotationValuesSet: noted(secret, c, setKey{s.Now().UTC().Truncate(time.Second), by}),
	})
}

// patch merges data into the secret at the version that was read; it returns errTryAgain if the secret was changed
// since.
func (s *Store) patch(ctx context.Context, secret *corev1.Secret, data map[string]any, notes map[string]string) (
	*corev1.Secret, error,
) {
	metadata := map[string]any{"uid": secret.UID, "resourceVersion": secret.ResourceVersion}
	if len(notes) > 0 {
		metadata["annotations"] = notes
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "data": data})
	if err != nil {
		return nil, unavailable(errors.New("write the change of a Secret as JSON"))
	}
	is, err := s.Secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch,
		metav1.PatchOptions{})
	return is, refused(err, secret.Name)
}

// Delete deletes the Secret and returns what it was, without values. Errors are *Error.
func (s *Store) Delete(ctx context.Context, namespace, name string) (was operatorapi.Secret, err error) {
	if err := firstOf(s.checkNamespace(namespace), checkName(name)); err != nil {
		return was, err
	}
	_, err = again(func() (bool, error) {
		secret, err := s.find(ctx, namespace, name)
		switch {
		case err != nil:
			return false, err
		case secret == nil:
			return false, errGone
		}
		was = withoutValues(secret)
		if err := checkOurs(secret, operatorapi.SecretValues); err != nil {
			return false, err
		}
		return false, refused(s.Secrets.Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion},
		}), name)
	})
	if err == nil || errors.Is(err, errGone) {
		s.strike(ctx, namespace, name)
	}
	if errors.Is(err, errGone) {
		err = problem(http.StatusNotFound, "there is no Secret %s in namespace %s", name, namespace)
	}
	return was, err
}

// errGone means that there is no such Secret.
var errGone = errors.New("there is no such Secret")

// List returns the Secrets of the namespace that carry the label, without values. Errors are *Error.
func (s *Store) List(ctx context.Context, namespace string) ([]operatorapi.Secret, error) {
	if err := s.checkNamespace(namespace); err != nil {
		return nil, err
	}
	names, err := s.listed(ctx, namespace)
	if err != nil {
		return nil, err
	}
	found := make([]*operatorapi.Secret, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i, name := range names {
		g.Go(func() error {
			secret, err := s.find(ctx, namespace, name)
			if err == nil && secret != nil && checkOurs(secret, operatorapi.SecretValues) == nil {
				found[i] = new(withoutValues(secret)) // drop the values at once
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := []operatorapi.Secret{}
	for _, secret := range found {
		if secret != nil {
			out = append(out, *secret)
		}
	}
	return out, nil
}

// find returns the Secret, nil if there is none.
func (s *Store) find(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	secret, err := s.Secrets.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, unavailable(reasonOf(err))
	}
	return secret, nil
}

// withoutValues returns the name, keys and times of a Secret, without values.
func withoutValues(secret *corev1.Secret) operatorapi.Secret {
	out := operatorapi.Secret{
		Name: secret.Name, Created: secret.CreationTimestamp.UTC(),
		Keys: []operatorapi.SecretKey{},
	}
	set := notesOf(secret)
	for _, name := range slices.Sorted(maps.Keys(secret.Data)) {
		key := operatorapi.SecretKey{Name: name}
		if was, ok := set[name]; ok {
			key.SetAt, key.SetBy = new(was.At.UTC()), was.By
		}
		out.Keys = append(out.Keys, key)
	}
	return out
}

func notesOf(secret *corev1.Secret) map[string]setKey {
	set := map[string]setKey{}
	// An unreadable annotation counts as empty.
	_ = json.Unmarshal([]byte(secret.Annotations[operatorapi.AnnotationValuesSet]), &set)
	return set
}

// noted returns the new content of the annotation with the setKeys; secret is nil for a new one.
func noted(secret *corev1.Secret, c operatorapi.SecretChange, is setKey) string {
	set := map[string]setKey{}
	if secret != nil {
		maps.Copy(set, notesOf(secret))
		maps.DeleteFunc(set, func(key string, _ setKey) bool { _, there := secret.Data[key]; return !there })
	}
	for key := range c.Set {
		set[key] = is
	}
	for _, key := range c.Remove {
		delete(set, key)
	}
	text, _ := json.Marshal(set) // times and strings cannot fail
	return string(text)
}

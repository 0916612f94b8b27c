package people

import (
	"context"
	"maps"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/operatorapi"
)

// The operator can get Secrets by name but not list them: anyone who stole its token could read them all with a right
// to list. So the names of the Secrets that people set are keys, without values, of one more Secret per namespace: the
// list. A surplus name in it is harmless.

// listed returns the names in the list of the namespace, sorted.
func (s *Store) listed(ctx context.Context, namespace string) ([]string, error) {
	index, err := s.index(ctx, namespace)
	if err != nil || index == nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(index.Data)), nil
}

// index returns the Secret with the list, nil if there is none.
func (s *Store) index(ctx context.Context, namespace string) (*corev1.Secret, error) {
	index, err := s.find(ctx, namespace, operatorapi.SecretIndexName)
	if err != nil || index == nil {
		return nil, err
	}
	return index, checkOurs(index, operatorapi.SecretIndex)
}

// enlist adds the name to the list.
func (s *Store) enlist(ctx context.Context, namespace, name string) error {
	_, err := again(func() (bool, error) {
		index, err := s.index(ctx, namespace)
		if err != nil {
			return false, err
		}
		if index == nil {
			_, err := s.make(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: namespace, Name: operatorapi.SecretIndexName,
					Labels: map[string]string{operatorapi.LabelSecretValues: operatorapi.SecretIndex},
				},
				Type: corev1.SecretTypeOpaque, Data: map[string][]byte{name: {}},
			})
			return false, err
		}
		if _, there := index.Data[name]; there {
			return false, nil
		}
		change, err := s.room(ctx, namespace, index)
		if err != nil {
			return false, err
		}
		change[name] = []byte{}
		_, err = s.patch(ctx, index, change, nil)
		return false, err
	})
	return err
}

// room returns the patch that makes room for one more name in a full list, by removing names of Secrets that no longer
// exist. It returns an *Error if there are none.
func (s *Store) room(ctx context.Context, namespace string, index *corev1.Secret) (map[string]any, error) {
	change := map[string]any{}
	if len(index.Data) < operatorapi.MaxSecrets {
		return change, nil
	}
	gone, err := s.gone(ctx, namespace, index)
	if err != nil {
		return nil, err
	}
	if len(gone) == 0 {
		return nil, problem(http.StatusUnprocessableEntity, "namespace %s has %d Secrets with values that were set "+
			"here, which is the most: delete one, or use more keys",
			namespace, len(index.Data))
	}
	for _, one := range gone {
		change[one] = nil
	}
	return change, nil
}

// gone returns the listed names whose Secret no longer exists: it may have been deleted outside the portal.
func (s *Store) gone(ctx context.Context, namespace string, index *corev1.Secret) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(index.Data)) {
		secret, err := s.find(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		if secret == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// strike removes the name from the list, unless a Secret of this name exists again. Errors are ignored, since a surplus
// name is harmless.
func (s *Store) strike(ctx context.Context, namespace, name string) {
	_, _ = again(func() (bool, error) {
		index, err := s.index(ctx, namespace)
		if err != nil || index == nil {
			return false, err
		}
		if _, there := index.Data[name]; !there {
			return false, nil
		}
		if secret, err := s.find(ctx, namespace, name); err != nil || secret != nil {
			return false, err
		}
		_, err = s.patch(ctx, index, map[string]any{name: nil}, nil)
		return false, err
	})
}

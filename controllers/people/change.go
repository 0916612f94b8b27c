package people

import (
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/operatorapi"
)

// checkNamespace rejects invalid names and namespaces of the system.
func (s *Store) checkNamespace(namespace string) error {
	switch {
	case len(validation.IsDNS1123Label(namespace)) > 0:
		return problem(http.StatusUnprocessableEntity, "%q is not the name of a namespace", shorten(namespace))
	case strings.HasPrefix(namespace, "kube-") || slices.Contains(s.System, namespace):
		return problem(http.StatusForbidden, "%s is a namespace of the system: Portico sets no values there", namespace)
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == operatorapi.SecretIndexName:
		return problem(http.StatusUnprocessableEntity, "%s is where Portico keeps the names of Secrets: choose "+
			"another name", name)
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return problem(http.StatusUnprocessableEntity,
			"%q is not the name of a Secret: use small letters, digits, - and ., at most 253, and begin and end with "+
				"a letter or a digit", shorten(name))
	}
	return nil
}

// checkChange rejects what no Secret can hold. Its errors name keys, never values.
func checkChange(c operatorapi.SecretChange) error {
	if len(c.Set)+len(c.Remove) == 0 {
		return problem(http.StatusUnprocessableEntity, "name at least one key to set or to remove")
	}
	for key, value := range c.Set {
		if err := checkKey(key); err != nil {
			return err
		}
		if len(value) > operatorapi.MaxSecret {
			return problem(http.StatusRequestEntityTooLarge, "the value of %s is larger than 1 MiB, which is all "+
				"that a Secret can hold", key)
		}
		if slices.Contains(c.Remove, key) {
			return problem(http.StatusUnprocessableEntity, "the key %s cannot be set and removed at the same time: "+
				"choose one", key)
		}
	}
	for _, key := range c.Remove {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	return nil
}

func checkKey(key string) error {
	if len(validation.IsConfigMapKey(key)) > 0 {
		return problem(http.StatusUnprocessableEntity, "%q is not a key of a Secret: use letters, digits, -, _ and "+
			"., at most 253", shorten(key))
	}
	return nil
}

// checkLimits rejects a change after which the Secret has too many keys or is too large.
func checkLimits(secret *corev1.Secret, c operatorapi.SecretChange) error {
	keys, size := map[string]int{}, 0
	for key, value := range secret.Data {
		keys[key] = len(value)
	}
	for key, value := range c.Set {
		keys[key] = len(value)
	}
	for _, key := range c.Remove {
		delete(keys, key)
	}
	for _, n := range keys {
		size += n
	}
	switch {
	case len(keys) > operatorapi.MaxSecretKeys:
		return problem(http.StatusUnprocessableEntity, "the Secret %s would have %d keys, and %d is the most: use "+
			"another Secret",
			secret.Name, len(keys), operatorapi.MaxSecretKeys)
	case size > operatorapi.MaxSecret:
		return problem(http.StatusRequestEntityTooLarge, "the values of the Secret %s would have %d bytes, and 1 MiB "+
			"(%d) is the most: use another Secret",
			secret.Name, size, operatorapi.MaxSecret)
	}
	return nil
}

// checkOurs rejects a Secret that does not have the label, belongs to another object, has another type or is being
// deleted.
func checkOurs(secret *corev1.Secret, label string) error {
	switch {
	case secret.Labels[operatorapi.LabelSecretValues] != label || len(secret.OwnerReferences) > 0 ||
		secret.Type != corev1.SecretTypeOpaque:
		return problem(http.StatusConflict,
			"the Secret %s was not made for this, and is left alone: it has no label %s=%s, or belongs to something "+
				"else. Choose another name",
			secret.Name, operatorapi.LabelSecretValues, label)
	case secret.DeletionTimestamp != nil:
		return problem(http.StatusConflict, "the Secret %s is being deleted: try again when it is gone", secret.Name)
	}
	return nil
}

// shorten limits user input in messages to a readable length.
func shorten(text string) string {
	const longest = 80
	if len(text) <= longest {
		return text
	}
	return text[:longest] + "…"
}

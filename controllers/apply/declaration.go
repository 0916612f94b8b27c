package apply

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// declaration has the fields that we declare of one object, and no others.
type declaration struct {
	kind   string
	key    client.ObjectKey
	hash   string // empty for a part, which has no annotation
	object *unstructured.Unstructured
}

func (d declaration) String() string { return d.kind + " " + d.key.Name }

// declare returns want with the owner reference added. Its hash, kept in an annotation, distinguishes our own changes
// from those of others.
func (o *Objects) declare(want any) (declaration, error) {
	fields, err := toJSON(want)
	if err != nil {
		return declaration{}, fmt.Errorf("declare a %T: %w", want, err)
	}
	obj := &unstructured.Unstructured{Object: fields}
	obj.SetNamespace(o.namespace(obj.GetNamespace()))
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = LabelValue
	obj.SetLabels(labels)
	obj.SetOwnerReferences([]metav1.OwnerReference{o.ref})
	text, err := json.Marshal(obj.Object)
	if err != nil {
		return declaration{}, fmt.Errorf("declare the %s: %w", obj.GetKind(), err)
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])
	notes := obj.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[AnnotationApplied] = hash
	obj.SetAnnotations(notes)
	if obj.Object, err = toJSON(obj.Object); err != nil {
		return declaration{}, err
	}
	return declaration{kind: obj.GetKind(), key: client.ObjectKeyFromObject(obj), hash: hash, object: obj}, nil
}

// diff returns the paths in which live differs from the declaration; none means that no write is needed. Values are
// included only for printable fields: others may contain a secret that somebody put in the wrong place.
func (d declaration) diff(live client.Object) ([]string, error) {
	have, err := toJSON(live)
	if err != nil {
		return nil, fmt.Errorf("compare the %s: %w", d.String(), err)
	}
	var c comparison
	for _, part := range slices.Sorted(maps.Keys(d.object.Object)) {
		if part != "apiVersion" && part != "kind" { // a typed object that was read has neither
			c.compare(part, part, d.object.Object[part], have[part])
		}
	}
	if old := live.GetAnnotations()[AnnotationApplied]; d.hash != "" && old != d.hash && len(c.diffs) == 0 {
		c.diffs = append(c.diffs, "what the spec no longer asks for")
	}
	return c.diffs, nil
}

// toJSON returns v as decoded JSON, in which equal values are comparable.
func toJSON(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(text, &out)
}

// keyed are the lists whose elements the API server merges by a key: others may have added elements. All other lists
// are compared as a whole.
var keyed = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "env": {"name"}, "volumes": {"name"}, "imagePullSecrets": {"name"},
	"volumeMounts": {"mountPath"}, "ownerReferences": {"uid"}, "topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
	"ports": {"containerPort", "port", "protocol"},
}

// atomic are the fields that the API server treats as a whole: an additional key in a selector changes our field.
var atomic = []string{"selector", "labelSelector", "matchLabels", "secretKeyRef", "configMapKeyRef"}

// printable are the fields whose values can be shown: neither these nor their paths can contain a secret.
var printable = []string{
	"image", "replicas", "minReplicas", "maxReplicas", "containerPort", "port", "targetPort",
	"maxUnavailable", "averageUtilization",
}

// comparison collects the differences from a declaration.
type comparison struct{ diffs []string }

// compare adds to the diffs; name is the last named element of path.
func (c *comparison) compare(path, name string, want, have any) {
	switch w := want.(type) {
	case map[string]any:
		h, _ := have.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if path != "metadata.annotations" || k != AnnotationApplied {
				c.compare(path+"."+k, k, w[k], h[k])
			}
		}
		if slices.Contains(atomic, name) {
			c.added(path, w, h)
		}
	case []any:
		h, _ := have.([]any)
		c.list(path, name, w, h)
	default:
		if !reflect.DeepEqual(want, have) && (want != "" || have != nil) {
			c.add(path, name, want, have)
		}
	}
}

// added adds to the diffs the keys of have that want lacks.
func (c *comparison) added(path string, want, have map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[k]; !ok {
			c.diffs = append(c.diffs, path+"."+k)
		}
	}
}

func (c *comparison) list(path, name string, want, have []any) {
	keys, ok := keyed[name]
	if !ok {
		if len(want) != len(have) {
			c.diffs = append(c.diffs, path)
			return
		}
		for i := range want {
			c.compare(fmt.Sprintf("%s[%d]", path, i), name, want[i], have[i])
		}
		return
	}
	for i, w := range want {
		at := cmp.Or(identity(w, keys), fmt.Sprint(i))
		found := slices.IndexFunc(have, func(h any) bool { return identity(h, keys) == identity(w, keys) })
		if found < 0 {
			c.diffs = append(c.diffs, fmt.Sprintf("%s[%s]", path, at))
			continue
		}
		c.compare(fmt.Sprintf("%s[%s]", path, at), name, w, have[found])
	}
}

// identity returns the key of a list element. For ports, TCP is the same as no protocol.
func identity(element any, keys []string) string {
	fields, _ := element.(map[string]any)
	out := ""
	for _, k := range keys {
		v, ok := fields[k]
		if k == "protocol" && (!ok || v == "TCP") {
			continue
		}
		if ok {
			out = fmt.Sprintf("%s,%v", out, v)
		}
	}
	if out == "" {
		return ""
	}
	return out[1:]
}

func (c *comparison) add(path, name string, want, have any) {
	if slices.Contains(printable, name) && have != nil {
		c.diffs = append(c.diffs, fmt.Sprintf("%s %v → %v", path, have, want))
		return
	}
	c.diffs = append(c.diffs, path)
}

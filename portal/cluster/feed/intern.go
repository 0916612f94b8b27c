package feed

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	// maxInterned is the longest string that objects share, in bytes.
	maxInterned = 128
	// maxTexts bounds the known strings. When it is exceeded, they are collected again.
	maxTexts = 8192
)

// repeated are the fields whose values thousands of objects have in common.
var repeated = map[string]bool{
	"apiVersion": true, "kind": true, "namespace": true, "type": true, "status": true, "reason": true, "message": true,
	"accountID": true, "region": true,
	"deletionPolicy": true, "lastTransitionTime": true, "creationTimestamp": true, "firstReadyTime": true,
	"lastSyncTime": true, "image": true,
	v1alpha1.AnnotationRequestedBy: true, v1alpha1.AnnotationChangedBy: true, v1alpha1.AnnotationChangedWith: true,
	v1alpha1.AnnotationChangedGeneration: true,
}

// texts are strings that cached objects share: field names, of which each object has a hundred, and some values. The
// JSON decoder allocates each again.
type texts struct {
	mu    sync.Mutex
	known map[string]string
}

// share replaces the strings of obj by shared ones.
func (t *texts) share(obj *unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	obj.Object = t.inMap(obj.Object)
}

func (t *texts) inMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		key = t.one(key)
		if text, ok := value.(string); ok && repeated[key] {
			value = t.one(text)
		}
		out[key] = t.inValue(value)
	}
	return out
}

func (t *texts) inValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return t.inMap(v)
	case []any:
		for i := range v {
			v[i] = t.inValue(v[i])
		}
	}
	return v
}

// one returns the shared copy of a string.
func (t *texts) one(text string) string {
	if len(text) > maxInterned {
		return text
	}
	if known, ok := t.known[text]; ok {
		return known
	}
	if t.known == nil || len(t.known) >= maxTexts {
		t.known = make(map[string]string, maxTexts)
	}
	text = strings.Clone(text)
	t.known[text] = text
	return text
}

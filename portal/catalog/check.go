package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
)

// maxFaults bounds the errors of a check: the rest is found when these are fixed.
const maxFaults = 20

// Check validates the object's fields that users write against the kind's schema before it is sent: the API server
// looks for every error of an object, which can take it minutes. It returns an error like the API server's, with the
// first errors, or nil. Values that are unchanged from old, which can be nil, pass. Rules across fields, and what
// depends on the cluster, are left to the API server.
func (k Kind) Check(obj, old *unstructured.Unstructured) error {
	c := &checking{}
	var before any
	if old != nil {
		before = map[string]any{"spec": old.Object["spec"]}
	} else {
		old = &unstructured.Unstructured{}
	}
	c.metadata(obj, old)
	if shape := k.source.unpacked().shape; shape != nil { // nil for a kind that was not read from a CRD
		c.value(nil, shape, map[string]any{"spec": obj.Object["spec"]}, before)
	}
	if len(c.faults) == 0 {
		return nil
	}
	c.faults = append(c.faults[:min(len(c.faults), maxFaults)],
		fieldpath.Invalid(nil, nil, unchecked))
	return apierrors.NewInvalid(k.GVK().GroupKind(), obj.GetName(), c.faults)
}

// checking is the state of one check.
type checking struct{ faults fieldpath.ErrorList }

// full reports whether the limit of errors is reached.
func (c *checking) full() bool { return len(c.faults) >= maxFaults }

// mostPairs bounds the labels, and the annotations, of an object: admission policies iterate over them.
const mostPairs = 1000

// metadata validates labels and annotations one by one, as the API server does.
func (c *checking) metadata(obj, old *unstructured.Unstructured) {
	path := fieldpath.NewPath("metadata")
	for name, pairs := range map[string][2]map[string]string{
		"labels": {obj.GetLabels(), old.GetLabels()}, "annotations": {obj.GetAnnotations(), old.GetAnnotations()},
	} {
		if is := len(pairs[0]); is > mostPairs && is > len(pairs[1]) {
			c.faults = append(c.faults, fieldpath.TooMany(path.Child(name), is, mostPairs))
			return
		}
	}
	c.pairs(obj.GetLabels(), old.GetLabels(), func(one map[string]string) fieldpath.ErrorList {
		return metavalidation.ValidateLabels(one, path.Child("labels"))
	})
	notes := obj.GetAnnotations()
	if err := apivalidation.ValidateAnnotationsSize(notes); err != nil && !maps.Equal(notes, old.GetAnnotations()) {
		c.faults = append(c.faults,
			fieldpath.TooLong(path.Child("annotations"), "", apivalidation.TotalAnnotationSizeLimitB))
		return
	}
	c.pairs(notes, old.GetAnnotations(), func(one map[string]string) fieldpath.ErrorList {
		return apivalidation.ValidateAnnotations(one, path.Child("annotations"))
	})
}

func (c *checking) pairs(all, old map[string]string, check func(map[string]string) fieldpath.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if c.full() {
			return
		}
		if was, there := old[key]; !there || was != all[key] {
			c.faults = append(c.faults, check(map[string]string{key: all[key]})...)
		}
	}
}

// value validates one value, and then its content; old is nil if there was no value.
func (c *checking) value(path *fieldpath.Path, s *shape, value, old any) {
	if c.full() || old != nil && reflect.DeepEqual(value, old) {
		return
	}
	if m, ok := value.(map[string]any); ok {
		value = given(m, s)
	}
	faults, deeper := s.faults(path, value)
	c.faults = append(c.faults, faults...)
	if !deeper {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		c.fields(path, s, value, before)
	case []any:
		before, _ := old.([]any)
		c.items(path, s, value, before)
	}
}

func (c *checking) fields(path *fieldpath.Path, s *shape, value, old map[string]any) {
	if s.free {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(value)) {
		at := s.at(path, key)
		switch of := s.of(key); {
		case c.full():
			return
		case of != nil:
			c.value(at, of, value[key], old[key])
		case old[key] == nil:
			c.faults = append(c.faults,
				fieldpath.Invalid(at, fieldpath.OmitValueType{}, noField))
		}
	}
}

func (c *checking) items(path *fieldpath.Path, s *shape, value, old []any) {
	if s.items == nil {
		return
	}
	before := map[string]any{}
	for _, item := range old {
		if key, ok := s.keyOf(item); ok {
			before[key] = item
		}
	}
	for i, item := range value {
		if c.full() {
			return
		}
		var was any
		if key, ok := s.keyOf(item); ok {
			was = before[key]
		}
		c.value(path.Index(i), s.items, item, was)
	}
}

// given drops what the API server drops: null for a field that is not nullable.
func given(m map[string]any, s *shape) map[string]any {
	var out map[string]any
	for key, v := range m {
		if of := s.of(key); v == nil && of != nil && !of.nullable {
			if out == nil {
				out = maps.Clone(m)
			}
			delete(out, key)
		}
	}
	if out == nil {
		return m
	}
	return out
}

// keyOf returns the key of a list's item, if the list has keys.
func (s *shape) keyOf(item any) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok || len(s.keys) == 0 {
		return "", false
	}
	parts := make([]string, 0, len(s.keys))
	for _, key := range s.keys {
		parts = append(parts, fmt.Sprintf("%q", fmt.Sprint(m[key])))
	}
	return strings.Join(parts, ","), true
}

package metric

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Kind returns the label of Portico's kinds.
func Kind() Label { return Label{Name: "kind", Values: kinds()} }

// kinds returns those of the API that have a list: all but options.
func kinds() []string {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		panic(err) // the types are compiled in: only a programmer can break this
	}
	known := s.KnownTypes(v1alpha1.GroupVersion)
	var all []string
	for name := range known {
		if of, is := strings.CutSuffix(name, "List"); is && known[of] != nil {
			all = append(all, of)
		}
	}
	slices.Sort(all)
	return all
}

// Outcome returns the label of what became of a call or a listing.
func Outcome(values ...string) Label {
	slices.Sort(values)
	return Label{Name: "result", Values: values}
}

package chart

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// odd are values that users write by mistake. Helm reads whole numbers of a values file as floats.
var odd = map[string]any{
	"null": nil, "an empty text": "", "digits as a text": "007", "a text that YAML reads as a number": "1e3",
	"a text that YAML reads as a boolean": "on", "a text with marks of YAML": "a\": {b} # c", "no": false, "yes": true,
	"zero": float64(0), "a small number": float64(7),
	"a large number": float64(1000000), "a number of bytes": float64(1073741824),
	"an empty list": []any{}, "an empty map": map[string]any{},
	"a list of digits": []any{"007"}, "a list of numbers": []any{float64(1000000)},
	"a map of digits": map[string]any{"a": "007"}, "a map of numbers": map[string]any{"a": float64(1000000)},
}

// garbled matches what a template leaves behind when a value does not have the expected type.
var garbled = regexp.MustCompile(`%!|<nil>|<no value>|map\[|[0-9]e\+[0-9]`)

// TestEachValueCanBeOdd renders the charts with each value in turn null, empty, of digits, a number, a list or a map,
// as the main chart and as a subchart. Kubernetes must accept the result, or the error must say what is wrong with
// which value. A null must count as not set, except for required values.
func TestEachValueCanBeOdd(t *testing.T) {
	for name, folder := range map[string]string{"production": folder, "config": configFolder} {
		c, dependency := light(t, folder), light(t, folder)
		known := &taken{seen: map[string]error{}}
		for _, path := range paths(c.Values) {
			for what, value := range odd {
				given := values(t, name)
				if folder != configFolder {
					set(given, false, "crds", "install") // there are many CRDs
				}
				set(given, value, path...)
				at := strings.Join(path, ".")
				err := known.check(renderAs(t, c, given, ours))
				if err = understood(err, value != nil || slices.Contains(needed, at)); err != nil {
					t.Errorf("%s: %s: %v", at, what, err)
				}
				if !slices.Contains([]string{"null", "an empty text", "a large number", "digits as a text"}, what) {
					continue // the other values give the same result in a subchart
				}
				err = known.check(renderBelow(t, dependency, given))
				if err = understood(err, value != nil || slices.Contains(needed, at)); err != nil {
					t.Errorf("%s: %s, below another chart: %v", at, what, err)
				}
			}
		}
	}
}

// light loads a chart without its policies, which are many and contain no values.
func light(t *testing.T, folder string) *chart.Chart {
	t.Helper()
	c := load(t, folder)
	c.Files = slices.DeleteFunc(c.Files, func(f *common.File) bool {
		return strings.HasPrefix(f.Name, "files/policy/")
	})
	return c
}

var ours = common.ReleaseOptions{Name: "portico", Namespace: "portico-system", Revision: 1, IsInstall: true}

// renderBelow renders a chart as the only dependency of another chart, with global values.
func renderBelow(t *testing.T, c *chart.Chart, given map[string]any) (map[string]string, error) {
	t.Helper()
	parent := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "platform", Version: "1.0.0"}}
	parent.AddDependency(c)
	return renderAs(t, parent, map[string]any{c.Name(): given, "global": map[string]any{"a": "b"}}, ours)
}

// understood returns nil for an error that names the value and, if refuses is true, for the chart's own errors.
func understood(err error, refuses bool) error {
	switch {
	case err == nil, strings.Contains(err.Error(), "don't meet the specifications of the schema"):
		return nil
	case refuses && strings.Contains(err.Error(), "execution error at"): // the chart's own message
		return nil
	}
	return err
}

// taken caches the results of fits, because most files are the same each time.
type taken struct{ seen map[string]error }

func (k *taken) check(files map[string]string, failed error) error {
	errs := []error{failed}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		if _, seen := k.seen[text]; !seen {
			k.seen[text] = fits(text)
		}
		if err := k.seen[text]; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// fits returns what is wrong with a file of objects: its syntax, the fields of kinds that Kubernetes has, or the
// metadata.
func fits(text string) error {
	if found := garbled.FindString(text); found != "" {
		at := strings.Index(text, found)
		return fmt.Errorf("it has %q: %s", found, text[max(0, at-80):min(len(text), at+80)])
	}
	options := json.SerializerOptions{Yaml: true, Strict: true}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, options)
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			return fmt.Errorf("%w in\n%s", err, part)
		}
		if len(object) == 0 {
			continue
		}
		var meta struct {
			metav1.TypeMeta
			Metadata metav1.ObjectMeta
		}
		if err := yaml.Unmarshal([]byte(part), &meta); err != nil || meta.Kind == "" || meta.Metadata.Name == "" {
			return fmt.Errorf("%s %q: %w", meta.Kind, meta.Metadata.Name, err)
		}
		_, _, err := strict.Decode([]byte(part), nil, nil)
		if err != nil && !runtime.IsNotRegisteredError(err) {
			return fmt.Errorf("%s %s: %w", meta.Kind, meta.Metadata.Name, err)
		}
	}
	return nil
}

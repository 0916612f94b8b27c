package pages

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
)

// strict validates as the API server does: it skips the rules of a kind while a value is missing. It returns the number
// of calls.
func strict(f *fakeCluster) *int {
	asked := new(0)
	f.judge = func(obj *unstructured.Unstructured) error {
		*asked++
		spec := field.NewPath("spec")
		var errs field.ErrorList
		for _, name := range []string{"instanceType", "instanceName"} {
			if catalog.TextAt(obj, "spec", name) == "" {
				errs = append(errs, field.Required(spec.Child(name), ""))
			}
		}
		if len(errs) > 0 {
			errs = append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object "+
				"was invalid; correct the existing errors to complete validation"))
		} else {
			if (catalog.TextAt(obj, "spec", "imageID") == "") == (catalog.TextAt(
				obj, "spec", "imageSSMParameter") == "") {
				errs = append(errs, field.Invalid(spec, "object", "name the image by exactly one of imageID and "+
					"imageSSMParameter"))
			}
			if catalog.TextAt(obj, "spec", "instanceType") == "a" {
				errs = append(errs, field.Invalid(spec.Child("instanceType"), "a", "an instance type looks like "+
					"t3.micro"))
			}
		}
		if len(errs) == 0 {
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Kind: obj.GetKind()}, obj.GetName(), errs)
	}
	return asked
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	const machines, buckets = "/teams/payments/new/ec2instances", "/teams/payments/new/s3buckets"
	for name, c := range map[string]struct {
		path   string
		form   url.Values
		says   []string
		not    []string
		asked  int // number of dry runs
		status int
	}{
		"an empty form": {
			machines,
			url.Values{},
			[]string{
				"4 problems", `>Name</a>: enter a name`, `>Instance name</a>: enter a value`,
				`>Instance type</a>: enter a value`, `>Image ID</a>: name the image by exactly one of`,
			},
			[]string{"looks like t3.micro", "more may be wrong"},
			2, 422,
		},
		"nothing but a name": {
			machines,
			url.Values{"metadata.name": {"x"}},
			[]string{"3 problems", "Image ID</a>: name the image"},
			[]string{"enter a name"},
			2, 422,
		},
		"all but a name": {
			machines,
			url.Values{"spec.instanceType": {"t3.micro"}, "spec.instanceName": {"x"}, "spec.imageID": {"ami-1"}},
			[]string{"1 problem", "enter a name"},
			nil, 1, 422,
		},
		"one thing is missing, and another one wrong": {
			machines,
			url.Values{"metadata.name": {"x"}, "spec.instanceType": {"a"}, "spec.imageID": {"ami-1"}},
			[]string{"2 problems", "Instance name</a>: enter a value", "Instance type</a>: an instance type looks " +
				"like t3.micro"},
			nil, 2, 422,
		},
		"what cannot be read is not missing": {
			machines,
			url.Values{
				"metadata.name": {"x"}, "spec.blockDeviceMappings[0].volumeSize": {"large"},
				"spec.instanceType": {"t3.micro"},
			},
			[]string{
				"3 problems", "must be a whole number", "Instance name</a>: enter a value",
				"Image ID</a>: name the image",
			},
			nil, 2, 422,
		},
		"a name that is taken, and something else": {
			machines,
			url.Values{"metadata.name": {"worker"}, "spec.instanceType": {"t3.micro"}, "spec.instanceName": {"x"}},
			[]string{
				"2 problems", "is taken: payments has a virtual machine of this name",
				"Image ID</a>: name the image",
			},
			nil, 1, 422,
		},
		"nothing is wrong": {
			machines,
			url.Values{
				"metadata.name": {"x"}, "spec.instanceType": {"t3.micro"}, "spec.instanceName": {"x"},
				"spec.imageID": {"ami-1"},
			},
			[]string{"Looks good."},
			[]string{"problem"},
			1, 200,
		},
		"YAML without a name": {
			machines,
			url.Values{"yaml": {"spec: {instanceType: t3.micro}"}},
			[]string{
				"3 problems", "metadata.name: is required", "spec.instanceName: is required",
				"spec: name the image",
			},
			nil, 2, 422,
		},
		"YAML that cannot be read is all that is said": {
			machines, url.Values{"yaml": {"spec: {"}}, []string{"1 problem", "not valid YAML"}, nil, 0, 422,
		},
		"a bucket without a name that has a bad one": {
			buckets,
			url.Values{"spec.bucketName": {"Bad_Name"}},
			[]string{"2 problems", "enter a name", "use lower-case letters"},
			nil, 0, 422,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := busySite(t)
			f.objects = append(f.objects, object(t, "{apiVersion: portico.dev/v1alpha1, kind: EC2Instance, metadata: "+
				"{name: worker, namespace: payments}, spec: {}}"))
			asked := new(0)
			if c.path == machines {
				asked = strict(f)
			}
			form := url.Values{"do": {"review"}}
			maps.Copy(form, c.form)
			w := post(t, f, c.path, form)
			lacks(t, w.Body.String(), c.says...)
			for _, words := range c.not {
				if strings.Contains(w.Body.String(), words) {
					t.Errorf("the page says %q:\n%s", words, w.Body)
				}
			}
			if w.Code != c.status {
				t.Errorf("answers %d, want %d", w.Code, c.status)
			}
			if *asked != c.asked {
				t.Errorf("the cluster was asked %d times, want %d", *asked, c.asked)
			}
		})
	}
}

func TestTheClusterIsAskedAFewTimesAtMost(t *testing.T) {
	f := busySite(t)
	asked := 0
	f.judge = func(obj *unstructured.Unstructured) error {
		asked++
		return apierrors.NewInvalid(schema.GroupKind{Kind: obj.GetKind()}, obj.GetName(), field.ErrorList{
			field.Required(field.NewPath("spec", "instanceType"), ""),
			field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct "+
				"the existing errors to complete validation"),
		})
	}
	w := post(t, f, "/teams/payments/new/ec2instances", url.Values{"do": {"review"}, "metadata.name": {"x"}})
	if w.Code != http.StatusUnprocessableEntity || asked != form.Rounds {
		t.Errorf("answers %d after %d tries, want %d", w.Code, asked, form.Rounds)
	}
}

// An object that is refused after its review is also checked completely.
func TestWhatIsRefusedAfterTheReviewIsSaidAtOnce(t *testing.T) {
	f := busySite(t)
	strict(f)
	w := post(t, f, "/teams/payments/new/ec2instances", url.Values{"do": {"create"}, "yaml": {"metadata: {name: x}"}})
	lacks(t, w.Body.String(), "3 problems", "Image ID</a>: name the image by exactly one of",
		"Instance type</a>: enter a value")
	if w.Code != http.StatusUnprocessableEntity {
		t.Errorf("answers %d", w.Code)
	}
}

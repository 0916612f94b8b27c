//go:build integration

package integration

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// Every rule of the schema refuses with a helpful message, at the field concerned.
func TestTheSchemaRefusesBadHostnames(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	base := func() ghr {
		return &v1alpha1.GatewayHostnameRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"},
			Spec:       v1alpha1.GatewayHostnameRequestSpec{ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}, Hostname: "shop.example.com", ZoneID: "Z1"},
		}
	}
	host := func(name string) func(ghr) { return func(r ghr) { r.Spec.Hostname = name } }
	for reason, x := range map[string]struct {
		change func(ghr)
		field  string
		says   string
	}{
		"a URL":                     {host("https://shop.example.com"), "spec.hostname", "no scheme, port or path"},
		"a port":                    {host("shop.example.com:443"), "spec.hostname", "no scheme, port or path"},
		"a path":                    {host("shop.example.com/cart"), "spec.hostname", "no scheme, port or path"},
		"an asterisk in the middle": {host("a.*.example.com"), "spec.hostname", "an asterisk stands for the whole first label"},
		"two asterisks":             {host("*.*.example.com"), "spec.hostname", "an asterisk stands for the whole first label"},
		"part of a label":           {host("a*.example.com"), "spec.hostname", "an asterisk stands for the whole first label"},
		"one label":                 {host("localhost"), "spec.hostname", "labels joined by single dots"},
		"a dot at the end":          {host("shop.example.com."), "spec.hostname", "labels joined by single dots"},
		"two dots":                  {host("shop..example.com"), "spec.hostname", "labels joined by single dots"},
		"a space":                   {host("my shop.example.com"), "spec.hostname", "labels joined by single dots"},
		"too long":                  {host(strings.Repeat("a.", 130) + "com"), "spec.hostname", "253"},
		"no zone's ID":              {func(r ghr) { r.Spec.ZoneID = "example.com" }, "spec.zoneId", "^Z"},
		"the same zone twice":       {func(r ghr) { r.Spec.ValidationZoneID = "Z1" }, "spec", "leave validationZoneId out"},
		"no such environment":       {func(r ghr) { r.Spec.Environment = "test" }, "spec.environment", "staging"},
		"no such visibility":        {func(r ghr) { r.Spec.Visibility = "public" }, "spec.visibility", "internet-facing"},
	} {
		r := base()
		x.change(r)
		err := c.Create(t.Context(), r, client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), x.field+":") ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	for _, good := range []string{"shop.example.com", "*.shop.example.com", "bücher.example.com", "SHOP.example.com"} {
		r := base()
		r.Spec.Hostname = good
		if err := c.Create(t.Context(), r, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}

	r := base()
	create(t, c, r)
	if r.Spec.Visibility != v1alpha1.InternetFacing || r.Spec.Environment != v1alpha1.EnvironmentDev ||
		r.Status.ObservedGeneration != -1 {
		t.Errorf("defaults %+v, %+v", r.Spec, r.Status)
	}
	for field, change := range map[string]func(ghr){
		"hostname": host("other.example.com"), "zoneId": func(r ghr) { r.Spec.ZoneID = "Z2" },
		"providerRef": func(r ghr) { r.Spec.ProviderRef.Name = "other" },
		"visibility":  func(r ghr) { r.Spec.Visibility = v1alpha1.Internal }, "gatewayClass": func(r ghr) {
			r.Spec.GatewayClass = "other"
		},
		"validationZoneId": func(r ghr) { r.Spec.ValidationZoneID = "Z2" }, "environment": func(r ghr) {
			r.Spec.Environment = v1alpha1.EnvironmentProd
		},
	} {
		edited := r.DeepCopy()
		change(edited)
		if err := c.Patch(t.Context(), edited, client.MergeFrom(r)); !apierrors.IsInvalid(err) ||
			!strings.Contains(err.Error(), "a hostname cannot be changed; request a new one") {
			t.Errorf("another %s: %v", field, err)
		}
	}
}

func TestTheSchemaRefusesBadGrants(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	grant := func(name string, suffixes ...string) error {
		return c.Create(t.Context(), &v1alpha1.HostnameGrant{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: v1alpha1.HostnameGrantSpec{Suffixes: suffixes},
		}, client.DryRunAll)
	}
	for reason, x := range map[string]struct {
		err  error
		says string
	}{
		"another name":   {grant("mine", "example.com"), "its name is hostnames"},
		"no suffix":      {grant("hostnames"), "spec.suffixes"},
		"a wildcard":     {grant("hostnames", "*.example.com"), "spec.suffixes[0]"},
		"upper case":     {grant("hostnames", "Example.com"), "spec.suffixes[0]"},
		"one label":      {grant("hostnames", "com"), "spec.suffixes[0]"},
		"the same twice": {grant("hostnames", "example.com", "example.com"), "Duplicate"},
	} {
		if !apierrors.IsInvalid(x.err) || !strings.Contains(x.err.Error(), x.says) {
			t.Errorf("%s: %v", reason, x.err)
		}
	}
	if err := grant("hostnames", "example.com", "xn--bcher-kva.example"); err != nil {
		t.Error(err)
	}
}

package webapp_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// anySpec generates a spec that the API server would accept.
func anySpec(t *rapid.T) v1alpha1.WebAppSpec {
	quantity := rapid.Ptr(rapid.Map(
		rapid.SampledFrom([]string{"100m", "1.5", "2000m", "100.5m", "1024Mi", "1.5Gi", "1e9"}), resource.MustParse),
		true)
	quantities := rapid.Ptr(rapid.Custom(func(t *rapid.T) v1alpha1.WebAppQuantities {
		return v1alpha1.WebAppQuantities{CPU: quantity.Draw(t, "cpu"), Memory: quantity.Draw(t, "memory")}
	}), true)
	probe := rapid.Ptr(rapid.Custom(func(t *rapid.T) v1alpha1.WebAppProbe {
		return v1alpha1.WebAppProbe{
			Path: rapid.SampledFrom([]string{"", "/ready"}).Draw(t, "path"),
			Port: rapid.Int32Range(0, 3).Draw(t, "port"),
		}
	}), true)
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "7", "true"}), 0, 3)
	s := v1alpha1.WebAppSpec{
		Image: "registry.example.com/shop:1.0.0", Replicas: rapid.Ptr(rapid.Int32Range(1, 3), false).Draw(
			t, "replicas"), Port: rapid.Int32Range(1, 9).Draw(t, "port"),
		Command: texts.Draw(t, "command"), Args: texts.Draw(t, "args"),
		Resources: &v1alpha1.WebAppResources{Requests: quantities.Draw(t, "requests"), Limits: quantities.Draw(
			t, "limits")},
		Probes: &v1alpha1.WebAppProbes{
			Readiness: probe.Draw(t, "readiness"), Liveness: probe.Draw(t, "liveness"),
			Startup: probe.Draw(t, "startup"),
		},
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "ORDERS_ARN"}), 0, 3,
		rapid.ID).Draw(t, "env") {
		s.Env = append(s.Env, v1alpha1.WebAppEnv{Name: name, Value: rapid.SampledFrom([]string{"", "x", "7"}).Draw(
			t, "value")})
	}
	if rapid.Bool().Draw(t, "bound") {
		s.Bindings = []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}}
	}
	if rapid.Bool().Draw(t, "autoscaled") {
		s.Autoscaling = &v1alpha1.WebAppAutoscaling{Min: rapid.Int32Range(1, 2).Draw(t, "min"), Max: 3, TargetCPU: 80}
	}
	return s
}

// After a change from any spec to any other, one pass leaves nothing to write.
func TestAnyWebAppIsAtRestAfterOnePass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := begin(t, shop(nil))
		for range 2 {
			l.app.Spec = anySpec(r)
			_ = l.sync()
			l.Forget()
			if _ = l.sync(); len(l.Writes()) > 0 {
				r.Fatalf("%+v: a second pass wrote %v, told %q", l.app.Spec, l.Writes(), l.pass.Strings())
			}
		}
	})
}

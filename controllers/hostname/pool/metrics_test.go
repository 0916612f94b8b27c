package pool

import (
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestHowFullThePoolIs(t *testing.T) {
	gateway := func(name string, hostnames, certificates, rules, groups int32) *v1alpha1.PoolGateway {
		return &v1alpha1.PoolGateway{
			ObjectMeta: metav1.ObjectMeta{Namespace: "portico-gateways", Name: name},
			Status:     v1alpha1.PoolGatewayStatus{Hostnames: hostnames, Certificates: certificates, Rules: rules, TargetGroups: groups},
		}
	}
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(
		gateway("gw-00", 20, 20, 50, 30), gateway("gw-01", 5, 5, 90, 10)).Build()
	out := make(chan prometheus.Metric, 20)
	if err := collectPool(t.Context(), kube, out); err != nil {
		t.Fatal(err)
	}
	close(out)
	got := map[string]float64{}
	for m := range out {
		var d dto.Metric
		if err := m.Write(&d); err != nil {
			t.Fatal(err)
		}
		label := ""
		if len(d.GetLabel()) > 0 {
			label = d.GetLabel()[0].GetValue()
		}
		got[label] += d.GetGauge().GetValue()
	}
	if want := map[string]float64{
		"": 102, "taken": 25, "free": 15, "certificates": 0.8, "rules": 0.9,
		"target_groups": 0.3,
	}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

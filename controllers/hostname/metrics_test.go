package hostname

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestCertificatesAreCountedByHowLateTheyAre(t *testing.T) {
	soon, later := metav1.Time{Time: time.Unix(1000, 0)}, metav1.Time{Time: time.Unix(2000, 0)}
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(s)
	for name, c := range map[string]*v1alpha1.HostnameCertificate{
		"none": nil, "asked": {}, "late": {NotAfter: &soon, RenewalLate: true}, "fine": {NotAfter: &later}, "fine-too": {NotAfter: &later},
	} {
		r := &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
		r.Status.Certificate = c
		kube = kube.WithObjects(r)
	}
	out := make(chan prometheus.Metric, 10)
	if err := collectCertificates(t.Context(), kube.Build(), out); err != nil {
		t.Fatal(err)
	}
	close(out)
	want := map[string]float64{"late": 1, "requested": 1, "in_time": 2, "": 1000}
	for m := range out {
		var d dto.Metric
		if err := m.Write(&d); err != nil {
			t.Fatal(err)
		}
		state := ""
		if len(d.GetLabel()) > 0 {
			state = d.GetLabel()[0].GetValue()
		}
		if d.GetGauge().GetValue() != want[state] {
			t.Errorf("%q is %v, want %v", state, d.GetGauge().GetValue(), want[state])
		}
		delete(want, state)
	}
	if len(want) > 0 {
		t.Errorf("nothing is told of %v", want)
	}
}

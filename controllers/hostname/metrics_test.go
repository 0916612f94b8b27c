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
	at := func(seconds int64) *metav1.Time { return &metav1.Time{Time: time.Unix(seconds, 0)} }
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(s)
	for name, c := range map[string]*v1alpha1.HostnameCertificate{
		"none": nil, "asked": {}, "late": {NotBefore: at(840), NotAfter: at(1000), RenewalLate: true},
		"fine": {NotBefore: at(1), NotAfter: at(2001)},
		// This one ends later than the first, but sooner relative to its lifetime.
		"long": {NotBefore: at(0), NotAfter: at(1024)},
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
	want := map[string]float64{
		"late": 1, "requested": 1, "in_time": 2, firstEndDesc.String(): 1000,
		firstUrgentDesc.String(): 960,
	}
	for m := range out {
		var d dto.Metric
		if err := m.Write(&d); err != nil {
			t.Fatal(err)
		}
		state := m.Desc().String()
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

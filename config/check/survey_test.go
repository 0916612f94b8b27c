package check

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"
)

func TestVersionsOfKubernetes(t *testing.T) {
	for told, c := range map[string]struct {
		state State
		says  string
	}{
		"v1.36.3":             {OK, "v1.36.3"},
		"v1.36.3-eks-0123456": {OK, "v1.36.3-eks-0123456"},
		"v1.40.0+k3s1":        {OK, "v1.40.0+k3s1"},
		"v1.35.9":             {Lacking, "older than 1.36"},
		"devel":               {Unknown, "is no version"},
	} {
		if f := oldEnough(told); f.State != c.state || !strings.Contains(f.Says, c.says) ||
			(f.Fix != "") != (c.state == Lacking) {
			t.Errorf("%s: %+v", told, f)
		}
	}
}

func TestClocks(t *testing.T) {
	const date = "Thu, 01 Jan 2026 12:00:00 GMT"
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		date  string
		now   time.Time
		state State
		says  string
	}{
		"the same":    {date, noon.Add(30 * time.Second), OK, "agree"},
		"fast":        {date, noon.Add(2 * time.Minute), Lacking, "differ by 2m0s"},
		"slow":        {date, noon.Add(-time.Hour), Lacking, "differ by 1h0m0s"},
		"no date":     {"", noon, Off, "did not say"},
		"another one": {"yesterday", noon, Off, "did not say"},
	} {
		if f := skew(c.date, c.now); f.State != c.state || !strings.Contains(f.Says, c.says) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// apiServer answers what the paths say, and refuses everything else.
func apiServer(t *testing.T, answers map[string]string) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Names{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFeaturesOfAnAPIServer(t *testing.T) {
	const on = "kubernetes_feature_enabled{name=\"Other\",stage=\"\"} " +
		"1\nkubernetes_feature_enabled{name=\"ConstrainedImpersonation\",stage=\"BETA\"} 1\n"
	for name, c := range map[string]struct {
		metrics string
		state   State
		says    string
	}{
		"on":      {on, OK, "on"},
		"off":     {strings.ReplaceAll(on, "\"BETA\"} 1", "\"BETA\"} 0"), Lacking, "switched off"},
		"unknown": {"up 1\n", Lacking, "does not know it"},
	} {
		got, err := apiServer(t, map[string]string{"/metrics": c.metrics}).constrained(t.Context())
		if err != nil || got[0].State != c.state || !strings.Contains(got[0].Says, c.says) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	served := `{"kind": "APIResourceList", "resources": [{"name": "validatingadmissionpolicies", "kind": "ValidatingAdmissionPolicy"}]}`
	got, err := apiServer(t, map[string]string{"/apis/admissionregistration.k8s.io/v1": served}).admissionServed(
		t.Context())
	if err != nil || got[0].State != Lacking ||
		!strings.Contains(got[0].Says, "does not serve MutatingAdmissionPolicy of") {
		t.Errorf("%+v, %v", got, err)
	}
}

// Who may not look learns that, for each thing; nothing counts as missing or as there.
func TestWhatMayNotBeLookedAtIsUnknown(t *testing.T) {
	c := apiServer(t, map[string]string{"/version": `{"gitVersion": "v1.36.3"}`})
	found, err := c.Survey(t.Context(), Survey{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		known := f.About == "Kubernetes version" || f.About == "Clock" || strings.Contains(f.Says, "may not be read")
		if !known && (f.State != Unknown || f.Fix == "") {
			t.Errorf("%+v", f)
		}
	}
	if Lacks(found) < 5 {
		t.Errorf("%d are lacking", Lacks(found))
	}
}

// A refusal is reported with the API server's message, or with HTTP's, and never without one.
func TestARefusalSaysWhy(t *testing.T) {
	const forbidden = `{"kind": "Status", "status": "Failure", "message": "forbidden: User \"ada\" cannot get path \"/metrics\"", "reason": "Forbidden", "code": 403}`
	err := refused(http.StatusForbidden, "/metrics", []byte(forbidden))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "ada" cannot get path`) {
		t.Errorf("%v", err)
	}
	for _, body := range []string{"", "<html>", "{}"} {
		if err := refused(http.StatusForbidden, "/metrics", []byte(body)); !apierrors.IsForbidden(err) ||
			!strings.HasSuffix(err.Error(), "Forbidden") {
			t.Errorf("%q: %v", body, err)
		}
	}
	if err := refused(http.StatusNotFound, "/apis/x/v1", []byte("404 page not found\n")); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

func TestAClusterThatDoesNotAnswer(t *testing.T) {
	_, err := apiServer(t, nil).Survey(t.Context(), Survey{Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "ask the API server for its version") {
		t.Errorf("%v", err)
	}
}

func TestObjectsAreStoredAnew(t *testing.T) {
	all, err := Names{}.crds()
	wanted := named(t, all, err, "CustomResourceDefinition", "hostnamegrants.portico.dev")
	s := inStore{wanted: wanted}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, &s.want); err != nil {
		t.Fatal(err)
	}
	s.have = *s.want.DeepCopy()
	if got := s.outdated(); len(got) > 0 {
		t.Errorf("%v are outdated", got)
	}
	older := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1alpha0", Served: true}
	s.want.Spec.Versions = append(s.want.Spec.Versions, older)
	s.have.Status.StoredVersions = []string{"v1alpha0", "v1alpha1"}
	if got := s.outdated(); !slices.Equal(got, []string{"v1alpha0"}) || len(s.unknown()) > 0 {
		t.Errorf("%v are outdated, and unknown %v", got, s.unknown())
	}
	grant := &object{Object: map[string]any{
		"apiVersion": "portico.dev/v1alpha1", "kind": "HostnameGrant",
		"metadata": map[string]any{"namespace": "payments", "name": "hostnames"},
	}}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := fake.NewSimpleDynamicClientWithCustomListKinds(scheme, map[schema.GroupVersionResource]string{
		{Group: "portico.dev", Version: "v1alpha1", Resource: "hostnamegrants"}: "HostnameGrantList",
	}, grant, wanted)
	if err := (&Cluster{objects: objects}).storeAnew(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, a := range objects.Actions() {
		did = append(did, strings.TrimSuffix(a.GetVerb()+" "+a.GetResource().Resource+" "+a.GetSubresource(), " "))
	}
	if want := []string{
		"list hostnamegrants", "patch hostnamegrants",
		"patch customresourcedefinitions status",
	}; !slices.Equal(did, want) {
		t.Errorf("did %q", did)
	}
	s.want.Spec.Versions = s.want.Spec.Versions[:1]
	if says, err := (&Cluster{objects: objects}).losing(t.Context(), &s); err != nil ||
		!strings.Contains(says, "stored as v1alpha0, which this version does not know") {
		t.Errorf("%q, %v", says, err)
	}
}

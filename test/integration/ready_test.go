//go:build integration

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// deployed is an operator that runs in its own process.
type deployed struct {
	*process.Process
	probes string // URL
}

// deployOperator runs an operator like a deployed one, until the test ends.
func deployOperator(t *testing.T, name string, flags ...string) deployed {
	t.Helper()
	path, err := buildOperator()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := world.ServiceAccountKubeconfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	d := deployed{probes: "http://" + freeAddress(t)}
	d.Process, err = world.Run(t.Context(), process.Spec{
		Name: strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")) + "-" + name, Path: path,
		Args: append([]string{
			"--kubeconfig", kubeconfig, "--namespace", stack.Namespace, "--metrics-bind-address", "0",
			"--inspect-bind-address", "0",
			"--health-probe-bind-address", strings.TrimPrefix(d.probes, "http://"), "--installation-check-interval",
			"1s",
			"--allowed-endpoints", world.AWSEndpoint,
		}, flags...),
		Ready: func(ctx context.Context) error {
			if status, body := probe(ctx, d.probes+"/readyz"); status != http.StatusOK {
				return errors.New(body)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// freeAddress returns an address with an unused port.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// probe sends a request as a kubelet does; status 0 means no response.
func probe(ctx context.Context, url string) (status int, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := plainly().Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// probes polls until the response has the status and contains all texts.
func probes(t *testing.T, url string, status int, says ...string) {
	t.Helper()
	await(t, url, func() (bool, string) {
		got, body := probe(t.Context(), url)
		return got == status && containsAll(body, says), fmt.Sprintf("%d: %s", got, body)
	})
}

// broken changes an object of the installation, or deletes it if change is nil. The object is restored when mend is
// called, at the latest at the end of the test.
func broken(t *testing.T, c client.Client, obj client.Object, change func()) (mend func()) {
	t.Helper()
	ctx := context.Background() // mend may run at the end of the test
	read := func() {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
	}
	read()
	before := obj.DeepCopyObject().(client.Object)
	if change == nil {
		if err := c.Delete(ctx, obj); err != nil {
			t.Fatal(err)
		}
	} else {
		was := obj.DeepCopyObject().(client.Object)
		change()
		if err := c.Patch(ctx, obj, client.MergeFrom(was)); err != nil {
			t.Fatal(err)
		}
	}
	mend = sync.OnceFunc(func() {
		if change == nil {
			before.SetResourceVersion("")
			before.SetUID("")
			if err := c.Create(ctx, before); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Error(err)
			}
			return
		}
		read()
		now := obj.DeepCopyObject().(client.Object)
		before.SetResourceVersion(obj.GetResourceVersion())
		if err := c.Patch(ctx, before, client.MergeFrom(now)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(mend)
	return mend
}

// installer returns an admin's client whose scheme has the kinds of an installation.
func installer(t *testing.T) client.Client {
	t.Helper()
	admin(t)
	s := controllers.Scheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(world.Admin, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// poolCRD returns the name of the CRD from which a test removes a field.
func poolCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "poolgateways.portico.dev"}}
}

// withoutField returns a function that removes a status field from the schema.
func withoutField(crd *apiextensionsv1.CustomResourceDefinition) func() {
	return func() {
		delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties, "attached")
	}
}

func TestTheOperatorIsReadyInAWholeInstallationOnly(t *testing.T) {
	c := installer(t)
	o := deployOperator(t, "operator")
	probes(t, o.probes+"/readyz?verbose", http.StatusOK, "[+]caches ok", "[+]crds ok", "[+]policies ok")
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "portico-ingress-hostnames"},
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "portico-ingress-hostnames"},
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "portico-operator"}}
	crd := poolCRD()
	for name, one := range map[string]struct {
		obj    client.Object
		change func()
		says   string
	}{
		"a missing binding": {binding, nil, "ValidatingAdmissionPolicyBinding portico-ingress-hostnames is missing: run portico check --fix"},
		"a policy that lets pass what it cannot judge": {policy, func() {
			ignore := admissionregistrationv1.Ignore
			policy.Spec.FailurePolicy = &ignore
		}, "ValidatingAdmissionPolicy portico-ingress-hostnames has spec.failurePolicy Ignore " +
			"instead of Fail"},
		"an old CRD": {crd, withoutField(crd), "CustomResourceDefinition poolgateways.portico.dev lacks .status.attached"},
		"roles of an older version": {role, func() {
			for i, rule := range role.Rules {
				if rule.APIGroups[0] == "admissionregistration.k8s.io" {
					role.Rules = append(role.Rules[:i], role.Rules[i+1:]...)
					break
				}
			}
		}, "may not be read: its roles are of another version"},
	} {
		mend := broken(t, c, one.obj, one.change)
		probes(t, o.probes+"/readyz", http.StatusServiceUnavailable, "failed: the log says what is wrong")
		probes(t, o.probes+"/healthz", http.StatusOK)
		if log, err := os.ReadFile(o.LogFile()); err != nil || !strings.Contains(string(log), one.says) {
			t.Errorf("%s: %v; the log does not say %q", name, err, one.says)
		}
		mend()
		probes(t, o.probes+"/readyz", http.StatusOK)
		t.Log(name)
	}
}

func TestAWSBeingAwayMakesNoOperatorUnready(t *testing.T) {
	c := admin(t)
	t.Cleanup(world.Proxy.Inject(awsproxy.Fault{Kind: awsproxy.ServerError}))
	o := deployOperator(t, "operator", "--provider-resync", "1s")
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}}
	m := world.Proxy.Mark()
	annotate(t, c, p, v1alpha1.AnnotationReconcileRequestedAt, time.Now().String())
	await(t, "calls that fail", func() (bool, string) {
		n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator)))
		return n >= 3, fmt.Sprint(n)
	})
	if status, body := probe(t.Context(), o.probes+"/readyz"); status != http.StatusOK {
		t.Errorf("%d: %s", status, body)
	}
}

// watchedPortal starts a portal that checks its installation and its identity provider every second.
func watchedPortal(t *testing.T, issuer string) *replica {
	t.Helper()
	return startPortalOf(t, issuer, sessionKeys(t), func(p *portal.Parts) {
		cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-portal")
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := check.New(cfg, check.Names{})
		if err != nil {
			t.Fatal(err)
		}
		m := check.NewMonitor(p.Log, check.Check{Name: "crds", Run: cluster.CRDs},
			check.Check{Name: "impersonation", Run: p.Cluster.CheckImpersonation()},
			check.IdentityProvider(p.Log, cmp.Or(issuer, world.Issuer), p.Provider.Reach))
		m.Every = time.Second
		p.Installation = m
		p.Pages = pages.New(p.Cluster, pages.Reach{}, slog.New(slog.DiscardHandler)).Watching(p.Provider.Outage)
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		for _, run := range []func(context.Context) error{m.Start, p.Provider.Watch} {
			running.Go(func() { _ = run(ctx) })
		}
		t.Cleanup(func() { cancel(); running.Wait() })
	})
}

func TestThePortalIsReadyInAWholeInstallationOnly(t *testing.T) {
	c := installer(t)
	r := watchedPortal(t, "")
	probes(t, r.url+"/readyz", http.StatusOK, "ok")
	crd, binding := poolCRD(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "portico-impersonator"}}
	for name, one := range map[string]struct {
		obj    client.Object
		change func()
		what   string
		log    string
	}{
		"an old CRD":                       {crd, withoutField(crd), "crds", "lacks .status.attached"},
		"an impersonator that may nothing": {binding, nil, "impersonation", "portico-impersonator has no right to act as users"},
	} {
		mend := broken(t, c, one.obj, one.change)
		probes(t, r.url+"/readyz", http.StatusServiceUnavailable, "not ready", one.what)
		probes(t, r.url+"/healthz", http.StatusOK)
		if !strings.Contains(r.log.String(), one.log) {
			t.Errorf("%s: the log does not say %q", name, one.log)
		}
		mend()
		probes(t, r.url+"/readyz", http.StatusOK)
	}
}

func TestAnIdentityProviderThatIsAwayMakesUnreadyOnlyWhatNeverReachedIt(t *testing.T) {
	issuer := oidctest.New(t)
	var away atomic.Bool
	issuer.Failing = away.Load
	away.Store(true)
	r := watchedPortal(t, issuer.URL)
	probes(t, r.url+"/readyz", http.StatusServiceUnavailable, "not ready: the identity provider "+issuer.URL+
		" does not answer as an OpenID Connect provider", "--oidc-issuer-url")
	away.Store(false)
	probes(t, r.url+"/readyz", http.StatusOK, "ok\n")
	away.Store(true)
	await(t, "the page to say it", func() (bool, string) {
		_, body := probe(t.Context(), r.url+auth.SignInPath)
		return strings.Contains(body, "Signing in does not work right now."), body
	})
	probes(t, r.url+"/readyz", http.StatusOK, "ok, but the identity provider does not answer")
}

//go:build node && linux

package node_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

func quantity(s string) *resource.Quantity { q := resource.MustParse(s); return &q }

func portOf(url string) string { return strings.Split(url[strings.LastIndexByte(url, ':')+1:], "/")[0] }

// reach runs a Pod that connects to addresses, and returns those that it reached. It is no endpoint of any Service.
func reach(t *testing.T, namespace, name string, labels map[string]string, addresses ...string) map[string]bool {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: new(false),
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "portico.dev/never"}},
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{
				{
					Name:            "reach",
					Image:           app + ":1",
					Args:            append([]string{"reach"}, addresses...),
					SecurityContext: confined(),
					Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{
							corev1.ResourceCPU:    *quantity("10m"),
							corev1.ResourceMemory: *quantity("32Mi"),
						},
						Limits: corev1.ResourceList{corev1.ResourceMemory: *quantity("64Mi")},
					},
				},
			},
		},
	}
	create(t, pod)
	await(t, name+" has ended", func() (bool, string) {
		p := get(t, namespace, name, &corev1.Pod{})
		return p.Status.Phase == corev1.PodSucceeded, string(p.Status.Phase)
	})
	reached, said := map[string]bool{}, kubectl(t, "logs", "-n", namespace, name)
	for line := range strings.Lines(said) {
		if fields := strings.Fields(line); len(fields) > 1 {
			reached[fields[0]] = fields[1] == "yes"
		}
	}
	if len(reached) != len(addresses) {
		t.Fatalf("%s said %q", name, said)
	}
	return reached
}

// podAddresses returns the addresses of a WebApp's Pod, of both families, with its port.
func podAddresses(t *testing.T, namespace, name string) (v4, v6 string) {
	t.Helper()
	var pods corev1.PodList
	if err := world.client.List(
		t.Context(),
		&pods,
		client.InNamespace(namespace),
		client.MatchingLabels{v1alpha1.LabelWebApp: name},
	); err != nil {
		t.Fatal(err)
	}
	for _, ip := range pods.Items[0].Status.PodIPs {
		if at := net.JoinHostPort(ip.IP, "8080"); strings.Contains(ip.IP, ":") {
			v6 = at
		} else {
			v4 = at
		}
	}
	if v4 == "" || v6 == "" {
		t.Fatalf("%s has the addresses %v, want one of each family", name, pods.Items[0].Status.PodIPs)
	}
	return v4, v6
}

// TestTeamsAreIsolated checks that a team reaches its own Pods, by both families, and no other team's.
func TestTeamsAreIsolated(t *testing.T) {
	together(t)
	create(t, webApp("target", "1", with(healthy)))
	awaitReady(t, "payments", "target")
	v4, v6 := podAddresses(t, "payments", "target")
	service := "target.payments.svc.cluster.local:80"
	apiServer := "kubernetes.default.svc.cluster.local:443"
	for namespace, want := range map[string]map[string]bool{
		"payments": {v4: true, v6: true, service: true, apiServer: false},
		"search":   {v4: false, v6: false, service: false, apiServer: false},
	} {
		t.Run("from "+namespace, func(t *testing.T) {
			t.Parallel()
			got := reach(t, namespace, "reach-team", nil, v4, v6, service, apiServer)
			for at := range want {
				if got[at] != want[at] {
					t.Errorf("%s is reached: %t, want %t", at, got[at], want[at])
				}
			}
		})
	}
}

// Addresses on every Node of EKS: of the agent of Pod Identity, and of the Node's own credentials (IMDS).
const identityAgent, instanceMetadata = "169.254.170.23:80", "169.254.169.254:80"

// peeredDatabase is in a network that is routed to, such as that of a peered VPC.
const peeredDatabase = "172.31.7.7:5432"

// TestPoliciesLetPortico checks that the policies of the chart let operator and portal reach what the values name, and
// nothing else.
func TestPoliciesLetPortico(t *testing.T) {
	together(t)
	serveEverywhere(t)
	idp := identityProvider(t)
	create(t, webApp("bystander", "1", with(healthy)))
	awaitReady(t, "payments", "bystander")
	v4, v6 := podAddresses(t, "payments", "bystander")
	host := func(url string) string { return strings.Split(strings.SplitN(url, "://", 2)[1], "/")[0] }
	addresses := []string{
		host(
			world.Admin.Host,
		),
		host(world.Issuer),
		host(world.AWSEndpoint),
		identityAgent,
		instanceMetadata,
		peeredDatabase,
		idp,
		v4,
		v6,
	}
	for component, want := range map[string][]bool{
		"operator": {true, true, true, true, false, true, true, false, false},
		"portal":   {true, true, true, false, false, false, true, false, false},
	} {
		t.Run("from "+component, func(t *testing.T) {
			t.Parallel()
			got := reach(t, stack.Namespace, "reach-"+component, map[string]string{
				"app.kubernetes.io/name": "portico", "app.kubernetes.io/component": component,
			}, addresses...)
			for i, at := range addresses {
				if got[at] != want[i] {
					t.Errorf("%s is reached: %t, want %t", at, got[at], want[i])
				}
			}
		})
	}
}

// serveEverywhere puts the addresses of EKS's Nodes on each Node, and the database's on the sandbox.
func serveEverywhere(t *testing.T) {
	t.Helper()
	program, err := filepath.Abs(root + "/bin/node-app")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range world.RealNodes {
		for _, at := range []string{identityAgent, instanceMetadata} {
			if err := n.Command(
				t.Context(),
				"ip",
				"address",
				"add",
				strings.Split(at, ":")[0]+"/32",
				"dev",
				"lo",
			); err != nil {
				t.Fatal(err)
			}
		}
		path, args := n.Inside(program, "serve", identityAgent, instanceMetadata)
		serve := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
	}
	ip := exec.CommandContext(
		t.Context(),
		"ip",
		"address",
		"add",
		strings.Split(peeredDatabase, ":")[0]+"/32",
		"dev",
		"lo",
	)
	if out, err := ip.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	l, err := net.Listen("tcp", peeredDatabase)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
}

// identityProvider runs a Pod in a namespace of its own that stands for an identity provider, behind a Service, and
// returns the Service's address. Its port is one of those that the chart's values open; policies see the Pod's.
func identityProvider(t *testing.T) string {
	t.Helper()
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "login"}})
	create(
		t,
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "login", Name: "login", Labels: map[string]string{"app": "login"}},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{
					{Name: "login", Image: app + ":1", Args: []string{"serve", ":" + portOf(world.Issuer)}},
				},
			},
		},
	)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "login", Name: "login"}}
	service.Spec.Selector = map[string]string{"app": "login"}
	service.Spec.Ports = []corev1.ServicePort{{Port: 443, TargetPort: intstr.Parse(portOf(world.Issuer))}}
	create(t, service)
	await(t, "the provider runs", func() (bool, string) {
		p := get(t, "login", "login", &corev1.Pod{})
		return p.Status.Phase == corev1.PodRunning, string(p.Status.Phase)
	})
	return "login.login.svc.cluster.local:443"
}

// TestCertificatesAreReloaded checks that a renewed certificate of the portal is served without a restart.
func TestCertificatesAreReloaded(t *testing.T) {
	together(t)
	before := served(t)
	cert, key, err := world.NewServingPair()
	if err != nil {
		t.Fatal(err)
	}
	s := get(t, stack.Namespace, "portal-tls", &corev1.Secret{})
	s.Data["tls.crt"], s.Data["tls.key"] = cert, key
	if err := world.client.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	began, seen := time.Now(), 0
	await(t, "the new certificate", func() (bool, string) {
		if served(t).Equal(before) {
			seen = 0
			return false, "the old one is served"
		}
		seen++
		return seen > 10, "one replica serves it" // connections are spread over the replicas
	})
	_, _ = fmt.Fprintf(os.Stderr, "  a renewed certificate is served after %.0f s\n", time.Since(began).Seconds())
}

// served returns the certificate that the portal serves now.
func served(t *testing.T) *x509.Certificate {
	t.Helper()
	conn, err := (&tls.Dialer{Config: trust(t)}).DialContext(
		t.Context(), "tcp", strings.TrimPrefix(portalURL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0] //nolint:forcetypeassert // of a tls.Dialer
}

// TestPortForward checks that the port-forwards that NOTES.txt and the admin guide name work.
func TestPortForward(t *testing.T) {
	together(t)
	for _, forward := range []struct{ to, port, path string }{
		{"service/portico-portal", "443", "https://127.0.0.1:%s/healthz"},
		{"deployment/portico-operator", "8081", "http://127.0.0.1:%s/readyz"},
		{"deployment/portico-portal", "8081", "https://127.0.0.1:%s/metrics"},
	} {
		t.Run(forward.to, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			local := freePort(t)
			cmd := exec.CommandContext(
				ctx,
				root+"/bin/kubectl",
				"port-forward",
				"-n",
				stack.Namespace,
				forward.to,
				local+":"+forward.port,
			)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+world.AdminKubeconfig)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c := trusting(t)
			c.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true //nolint:forcetypeassert // metrics have a certificate of their own
			await(t, "an answer through port-forward", func() (bool, string) {
				r, err := http.NewRequestWithContext(
					t.Context(),
					http.MethodGet,
					fmt.Sprintf(forward.path, local),
					http.NoBody,
				)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := c.Do(r)
				if err != nil {
					return false, err.Error() + said.String()
				}
				_ = resp.Body.Close()
				return resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized, resp.Status
			})
		})
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, number, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// TestPasswordsAreRotated checks that a database's password that is replaced reaches the application that is bound to
// it, in new Pods.
func TestPasswordsAreRotated(t *testing.T) {
	together(t)
	db := &v1alpha1.RDSInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "ledger"}}
	if err := yaml.Unmarshal(
		[]byte(
			"{engine: postgres, dbInstanceClass: db.t4g.micro, allocatedStorage: 20, masterUsername: owner, "+
				"providerRef: {name: "+stack.Provider+"}}",
		),
		&db.Spec,
	); err != nil {
		t.Fatal(err)
	}
	create(t, db)
	create(t, webApp("bound", "1", with("bindings: [{kind: RDSInstance, name: ledger}]\n"+healthy)))
	awaitReady(t, "payments", "bound")
	before := password(t)
	patch := client.RawPatch(
		"application/merge-patch+json",
		[]byte(`{"metadata": {"annotations": {"portico.dev/rotate-password": "once"}}}`),
	)
	if err := world.client.Patch(t.Context(), db, patch); err != nil {
		t.Fatal(err)
	}
	await(t, "the new password reaches the application", func() (bool, string) {
		now := password(t)
		return now != "" && now != before, "it has the old one"
	})
	awaitReady(t, "payments", "bound")
}

// password returns the one in the environment of the application that is bound to the database.
func password(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(
		t.Context(),
		http.MethodGet,
		serviceURL(t, "payments", "bound")+"/env",
		http.NoBody,
	)
	if err != nil {
		t.Fatal(err)
	}
	said, err := (&load{client: trusting(t)}).answer(r)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(said) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "="); strings.HasSuffix(name, "PASSWORD") {
			return value
		}
	}
	t.Fatal(errors.New("it has no password"))
	return ""
}

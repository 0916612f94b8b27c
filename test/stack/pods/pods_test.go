package pods

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// portal returns a Pod with the features that Portico's charts use.
func portal(t *testing.T) *pod {
	t.Helper()
	clients := fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"}, Data: map[string][]byte{
			"keys": []byte("k1\n"), "other": []byte("no"),
		}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "flags"}, Data: map[string]string{
			"PORTICO_KEYS": "/etc/keys/file", "PORTICO_X": "1",
		}},
	)
	spec := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"a": "b"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "sa",
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "keys", Items: []corev1.KeyToPath{{Key: "keys", Path: "file"}},
			}}}},
			Containers: []corev1.Container{{
				Name: "portal", Ports: []corev1.ContainerPort{{Name: "pages", ContainerPort: 8080}},
				EnvFrom: []corev1.EnvFromSource{
					{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{
						Name: "flags",
					}}},
				},
				Env: []corev1.EnvVar{
					{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
					{Name: "PORTICO_X", Value: "2"},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/etc/keys"}},
			}},
		},
	}
	p := newPod(spec, Options{Clients: clients, Admin: &rest.Config{Host: "https://127.0.0.1:1"}}, t.TempDir())
	p.ip = "127.245.0.9"
	return p
}

// TestTheAPIServerIsTrustedAsByTheAdmin: behind a proxy its CA is not the one that Pods get.
func TestTheAPIServerIsTrustedAsByTheAdmin(t *testing.T) {
	p := portal(t)
	p.options.Admin = &rest.Config{
		Host: "https://proxy.example", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("CA of the proxy"), ServerName: "kube"},
	}
	if err := os.MkdirAll(p.path(accountPath), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.writeKubeconfig(); err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.LoadFromFile(p.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	want := clientcmdapi.NewCluster()
	want.Server, want.TLSServerName = "https://proxy.example", "kube"
	want.CertificateAuthorityData = []byte("CA of the proxy")
	is := got.Clusters[Name]
	is.LocationOfOrigin = ""
	if diff := cmp.Diff(want, is, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the cluster differs (- want, + got):\n%s", diff)
	}
	if user := got.AuthInfos[Name]; user.TokenFile != filepath.Join(p.path(accountPath), "token") {
		t.Errorf("the user is %+v", user)
	}
}

func TestAContainerGetsWhatItAsksFor(t *testing.T) {
	p := portal(t)
	if err := p.mount(t.Context()); err != nil {
		t.Fatal(err)
	}
	env, err := p.environment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.folder, "volumes/etc/keys/file")
	want := []string{
		"POD_IP=127.245.0.9", "PORTICO_KEYS=" + file, "PORTICO_LISTEN=127.245.0.9:8080", "PORTICO_X=2",
	}
	if !slices.Equal(env, want) {
		t.Errorf("environment %q, want %q", env, want)
	}
	if content, err := os.ReadFile(filepath.Clean(file)); err != nil || string(content) != "k1\n" {
		t.Errorf("mounted %q, %v", content, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("mounted %v, %v: only one key was asked for", entries, err)
	}
}

func TestWhatCannotBePlayedIsSaid(t *testing.T) {
	for says, change := range map[string]func(*corev1.PodSpec){
		"volume v: this kind of volume": func(s *corev1.PodSpec) {
			s.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		},
		"there is no key nothing":  func(s *corev1.PodSpec) { s.Volumes[0].Secret.Items[0].Key = "nothing" },
		`secrets "gone" not found`: func(s *corev1.PodSpec) { s.Volumes[0].Secret.SecretName = "gone" },
		"the field spec.hostNetwork": func(s *corev1.PodSpec) {
			s.Containers[0].Env[0].ValueFrom.FieldRef.FieldPath = "spec.hostNetwork"
		},
		"a Pod of 2 containers": func(s *corev1.PodSpec) { s.Containers = append(s.Containers, s.Containers[0]) },
	} {
		p := portal(t)
		change(&p.spec.Spec)
		p.options.Binary = func(string) (string, error) { return "/bin/true", nil }
		if err := p.start(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestAProbeFailsAfterSome(t *testing.T) {
	p := newProber(&corev1.Probe{FailureThreshold: 2, ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("pages")},
	}})
	defer p.stop()
	fails := func(context.Context) error { return errors.New("no") }
	works := func(context.Context) error { return nil }
	for i, c := range []struct {
		probe          func(context.Context) error
		turned, failed bool
	}{
		{fails, false, false},
		{works, false, false},
		{fails, false, false},
		{fails, true, true},
		{fails, false, true},
		{works, true, false},
	} {
		if got := p.turned(t.Context(), c.probe); got != c.turned || p.failed != c.failed {
			t.Errorf("probe %d: turned %t, failed %t", i, got, p.failed)
		}
	}
}

func TestTheEndOfALog(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"", 3, ""}, {"a\nb\n", 1, "b\n"}, {"a\nb\n", 9, "a\nb\n"}, {"a\nb", 1, "b"}, {"a\nb\n", 0, ""}} {
		if got := string(tail([]byte(c.text), c.n)); got != c.want {
			t.Errorf("%d lines of %q: %q", c.n, c.text, got)
		}
	}
}

// TestAServiceGoesRound checks that connections are distributed over the ready Pods in turn, and refused when there is
// none.
func TestAServiceGoesRound(t *testing.T) {
	n := New(Options{})
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	go func() { _ = n.Forward(service, map[string]string{"a": "b"}, "pages") }()
	if got := ask(t, service.Addr().String()); got != "" {
		t.Errorf("without Pods: %q", got)
	}
	for _, name := range []string{"one", "two", "unready", "other"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				_, _ = io.WriteString(conn, name)
				_ = conn.Close()
			}
		}()
		p := portal(t)
		p.ip, p.ready = "127.0.0.1", name != "unready"
		p.container().Ports[0].ContainerPort = int32(l.Addr().(*net.TCPAddr).Port)
		if name == "other" {
			p.spec.Labels["a"] = "c"
		}
		n.mu.Lock()
		n.pods[types.UID(name)] = p
		n.mu.Unlock()
	}
	seen := map[string]int{}
	for range 4 {
		seen[ask(t, service.Addr().String())]++
	}
	if seen["one"] != 2 || seen["two"] != 2 {
		t.Errorf("answers came from %v", seen)
	}
}

// ask returns the response at an address, or "" if the connection was refused, which may show at once.
func ask(t *testing.T, at string) string {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if errors.Is(err, syscall.ECONNRESET) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	said, _ := io.ReadAll(conn)
	return string(said)
}

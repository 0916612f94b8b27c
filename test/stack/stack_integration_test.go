//go:build integration

package stack_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	versions "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// s is shared by the tests that change nothing another test could notice.
var s *stack.Stack

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	began := time.Now()
	var err error
	s, err = stack.Start(context.Background(), stack.Options{
		Root: root, Progress: os.Stderr,
		Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes | stack.AWS | stack.Dex | stack.Gateways,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "the stack serves after %.1f s\n", time.Since(began).Seconds())
	code := m.Run()
	if code != 0 {
		s.KeepLogs()
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func clients(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func eventually(t *testing.T, what string, within time.Duration, ok func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, within, true, ok); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestTheAPIServerIsStampedAndServesAdmissionPolicies(t *testing.T) {
	version, err := clients(t, s.Admin).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := versions.ParseSemantic(version.GitVersion)
	if err != nil || !parsed.AtLeast(versions.MajorMinor(1, 36)) {
		t.Errorf("version = %s, %v, want at least 1.36", version.GitVersion, err)
	}
	if len(version.GitCommit) != 40 || version.BuildDate == "" {
		t.Errorf("GitCommit = %q, BuildDate = %q; want both", version.GitCommit, version.BuildDate)
	}
	served, err := clients(t, s.Admin).Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i := range served.APIResources {
		kinds = append(kinds, served.APIResources[i].Kind)
	}
	for _, kind := range []string{
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		"ValidatingAdmissionPolicy",
	} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%s is not served", kind)
		}
	}
}

func TestADeploymentBecomesAvailableOnSimulatedNodes(t *testing.T) {
	c := clients(t, s.Admin).AppsV1().Deployments("payments")
	one, labels := int32(1), map[string]string{"app": "probe"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "registry.invalid/probe"}}},
			},
		},
	}
	if _, err := c.Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), "probe", metav1.DeleteOptions{}) })
	eventually(t, "the Deployment is Available", time.Minute, func(ctx context.Context) (bool, error) {
		d, err := c.Get(ctx, "probe", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1, err
	})
}

func TestDexGivesATokenWithGroupsForTheAPI(t *testing.T) {
	for _, user := range stack.Users {
		token, err := s.Token(t.Context(), user.Name)
		if err != nil {
			t.Fatal(err)
		}
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		var claims struct {
			Issuer   string   `json:"iss"`
			Audience []string `json:"aud"`
			Username string   `json:"preferred_username"`
			Groups   []string `json:"groups"`
		}
		if err := json.Unmarshal(payload, &claims); err != nil {
			t.Fatal(err)
		}
		if claims.Issuer != s.Issuer || claims.Username != user.Name {
			t.Errorf("Issuer = %q, Username = %q, want %s, %s", claims.Issuer, claims.Username, s.Issuer, user.Name)
		}
		if !slices.Equal(claims.Groups, user.Groups) || !slices.Contains(claims.Audience, stack.Audience) {
			t.Errorf("%s: Groups = %q, Audience = %q, want %q, %s", user.Name, claims.Groups, claims.Audience,
				user.Groups, stack.Audience)
		}
	}
	if token, err := s.Token(t.Context(), "nobody"); err == nil {
		t.Errorf("a token for nobody: %s", token)
	}
}

func TestSampleUsersAreWhoTheyAreToTheAPIServer(t *testing.T) {
	for _, user := range stack.Users {
		cfg, err := s.UserConfig(user.Name)
		if err != nil {
			t.Fatal(err)
		}
		review, err := clients(t, cfg).AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(),
			&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: "kube-system", Verb: "get", Resource: "secrets",
				},
			}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed {
			t.Errorf("%s may read Secrets of kube-system", user.Name)
		}
	}
	names, err := s.Contexts()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"payments-dev", "admin", "growth-dev", "payments-owner", "platform-admin", "search-dev",
		"viewer",
	}; !slices.Equal(names, want) {
		t.Errorf("contexts %v, want %v", names, want)
	}
}

func TestMotoAnswersThroughBothWaysOfTheProxy(t *testing.T) {
	for _, way := range []struct {
		endpoint string
		actor    awsproxy.Actor
	}{{s.AWSEndpoint, awsproxy.Operator}, {s.OutsideAWSEndpoint, awsproxy.Outside}} {
		mark := s.Proxy.Mark()
		if account := callerIdentity(t, way.endpoint); account != stack.AccountID {
			t.Errorf("%s: account %s", way.endpoint, account)
		}
		if calls := s.Proxy.CallsSince(mark, awsproxy.By(way.actor)); len(calls) != 1 ||
			calls[0].Operation != "GetCallerIdentity" {
			t.Errorf("journal of %s: %+v", way.actor, calls)
		}
	}
}

func callerIdentity(t *testing.T, endpoint string) string {
	t.Helper()
	client := sts.New(sts.Options{
		Region: stack.Region, BaseEndpoint: aws.String(endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	identity, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(identity.Account)
}

func TestApplyWaitsForCRDsBeforeTheirObjects(t *testing.T) {
	// The object comes before its namespace and CRD on purpose.
	files := fstest.MapFS{"world/all.yaml": {Data: []byte(`
apiVersion: probe.portico.test/v1
kind: Probe
metadata: {name: one, namespace: probes}
---
apiVersion: v1
kind: Namespace
metadata: {name: probes}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: probes.probe.portico.test}
spec:
  group: probe.portico.test
  scope: Namespaced
  names: {kind: Probe, plural: probes}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)}}
	for range 2 { // the second time changes nothing
		if err := stack.Apply(t.Context(), s.Admin, files, "world"); err != nil {
			t.Fatal(err)
		}
	}
	if err := stack.Apply(t.Context(), s.Admin, files, "elsewhere"); err == nil {
		t.Error("a folder that does not exist was applied")
	}
}

func TestOnePartRestartsAlone(t *testing.T) {
	before, etcd := s.Part("kube-apiserver").PID(), s.Part("etcd").PID()
	if err := s.Part("kube-apiserver").Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := s.Part("kube-apiserver").PID(); after == 0 || after == before || s.Part("etcd").PID() != etcd {
		t.Errorf("kube-apiserver was %d and is %d; etcd was %d and is %d", before, after, etcd, s.Part("etcd").PID())
	}
	if _, err := clients(t, s.Admin).CoreV1().Namespaces().Get(
		t.Context(), "payments", metav1.GetOptions{}); err != nil {
		t.Errorf("what was there before: %v", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("a restart counts as a failure: %v", err)
	}
	if s.Part("portal") != nil {
		t.Error("a part that was not asked for")
	}
}

func TestATakenPortIsToldInOneLine(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = stack.Start(t.Context(), stack.Options{Root: root, Parts: stack.Dex, Ports: stack.Ports{Dex: port}})
	if _, ok := errors.AsType[*stack.PortTakenError](err); !ok {
		t.Fatal(err)
	}
	line := err.Error()
	for _, want := range []string{
		fmt.Sprintf("port %d,", port), "Dex", fmt.Sprintf("process %d ", os.Getpid()),
		"DEX_PORT=",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q does not say %q", line, want)
		}
	}
	if strings.Contains(line, "\n") {
		t.Errorf("more than one line: %q", line)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	tiers.Long(t)
	ctx, cancel := context.WithCancel(t.Context())
	own, err := stack.Start(ctx, stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS | stack.Dex})
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "moto", "dex"} {
		pids[name] = own.Part(name).PID()
		if syscall.Kill(pids[name], 0) != nil {
			t.Fatalf("%s does not run", name)
		}
	}
	cancel() // also closes the stack
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("%s (process %d) survives", name, pid)
		}
	}
	if _, err := os.Stat(own.Dir); err == nil {
		t.Errorf("%s survives", own.Dir)
	}
	if c, err := (&net.Dialer{}).DialContext(
		t.Context(), "tcp", strings.TrimPrefix(own.AWSEndpoint, "http://")); err == nil {
		_ = c.Close()
		t.Error("the AWS endpoint survives")
	}
}

func TestAPartThatDiesIsNamedWithItsLog(t *testing.T) {
	own, err := stack.Start(t.Context(), stack.Options{Root: root, Parts: stack.Dex})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	if err := syscall.Kill(own.Part("dex").PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-own.Failed():
	case <-time.After(10 * time.Second):
		t.Fatal("not noticed")
	}
	if err := own.Err(); !strings.HasPrefix(err.Error(), "dex ended by itself (signal: killed)") {
		t.Error(err)
	}
}

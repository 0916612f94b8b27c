//go:build integration

package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	dbserver "github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/test/stack"
)

// inspected is an operator that serves its inspection API.
type inspected struct {
	client.Client
	people    identity.Settings // whose tokens it accepts
	stop      func()
	databases dbserver.Dialer
	audience  string // of tokens of CI jobs
}

func startInspected(t *testing.T) *inspected {
	t.Helper()
	return startInspectedFor(t, identity.Settings{})
}

// startInspectedFor starts an operator that also accepts the tokens of people.
func startInspectedFor(t *testing.T, people identity.Settings) *inspected {
	t.Helper()
	return startInspectedWith(t, people, dbserver.Dialer{})
}

// startInspectedWith does what startInspectedFor does, with an operator that can reach databases.
func startInspectedWith(t *testing.T, people identity.Settings, databases dbserver.Dialer) *inspected {
	t.Helper()
	return startInspectedAs(t, &inspected{Client: admin(t), people: people, databases: databases})
}

// startInspectedAs starts an operator with the settings of o.
func startInspectedAs(t *testing.T, o *inspected) *inspected {
	t.Helper()
	// Remove the address that an earlier leader announced.
	err := o.Delete(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: operatorapi.Lease},
	})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	o.again(t)
	return o
}

func (o *inspected) again(t *testing.T) {
	t.Helper()
	o.stop = startOperator(t, operatorOptions{
		leaderElect: true, inspect: "127.0.0.1:0", people: o.people,
		databases: o.databases, audience: o.audience,
	})
	o.announced(t)
}

func (o *inspected) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := o.Get(t.Context(), client.ObjectKey{Namespace: stack.Namespace, Name: operatorapi.Lease},
		lease); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return lease
}

func (o *inspected) announced(t *testing.T) (url, ca string) {
	t.Helper()
	await(t, "the leader to announce itself", func() (bool, string) {
		a := o.lease(t).Annotations
		url, ca = a[operatorapi.AnnotationURL], a[operatorapi.AnnotationCA]
		return url != "" && ca != "", fmt.Sprint(a)
	})
	return url, ca
}

// get sends a request to the operator itself.
func (o *inspected) get(t *testing.T, path, token string) (int, string) {
	t.Helper()
	url, ca := o.announced(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return o.send(t, req, ca)
}

// send sends a request to the operator; ca is the CA of its certificate.
func (o *inspected) send(t *testing.T, req *http.Request, ca string) (int, string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ca))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: operatorapi.ServerName}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: secrets.Transport(transport), Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// accountToken returns a token of a ServiceAccount for the given audiences.
func accountToken(t *testing.T, namespace, name string, audiences ...string) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	r := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	got, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, r, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secrets.Plant("a token of "+namespace+"/"+name, got.Status.Token)
	return got.Status.Token
}

func TestOnlyThePortalMayInspect(t *testing.T) {
	calm(t) // otherwise a second pass can write the bucket policy, and its plan would be the last
	o := startInspected(t)
	b := bucketOf(team(t, o), "inspected")
	create(t, o, b)
	ready(t, o, b)
	version, path := b.ResourceVersion, operatorapi.ResourcePath("S3Bucket", b.Namespace, b.Name)
	for _, c := range []struct {
		who    string
		token  string
		status int
	}{
		{"the portal", accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience), 200},
		{"the portal, for the API server", accountToken(t, stack.Namespace, "portico-portal"), 401},
		{"the portal, for somebody else", accountToken(t, stack.Namespace, "portico-portal", stack.Audience), 401},
		{"the impersonator", accountToken(t, stack.Namespace, "portico-impersonator", operatorapi.Audience), 403},
		{"the operator itself", accountToken(t, stack.Namespace, "portico-operator", operatorapi.Audience), 403},
		{"a tenant's ServiceAccount", tenantToken(t, b.Namespace), 403},
		{"a user", userToken(t, "payments-dev"), 401},
		{"an admin of the platform", userToken(t, "platform-admin"), 401},
		{"nobody", "", 401},
		{"rubbish", "rubbish", 401},
	} {
		t.Run(c.who, func(t *testing.T) {
			if status, body := o.get(t, path, c.token); status != c.status || c.status != 200 && strings.Contains(
				body, "CreateBucket") {
				t.Errorf("answers %d, want %d: %s", status, c.status, body)
			}
		})
	}
	o.recorded(t, b)
	o.worked(t)
	if err := o.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil || b.ResourceVersion != version {
		t.Errorf("looking wrote to the object: %v, %s → %s", err, version, b.ResourceVersion)
	}
}

// recorded checks the operator's record of a bucket that it has just created.
func (o *inspected) recorded(t *testing.T, b *v1alpha1.S3Bucket) {
	t.Helper()
	path := operatorapi.ResourcePath("S3Bucket", b.Namespace, b.Name)
	status, body := o.get(t, path, accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience))
	var got operatorapi.Resource
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	if got.LastPlan == nil {
		t.Fatalf("the record has no plan: %s", body)
	}
	if a := got.LastPlan.Actions[0]; a.Call != "CreateBucket" || !strings.Contains(a.Why, b.Spec.BucketName) {
		t.Errorf("first action = %+v, want CreateBucket of %s", a, b.Spec.BucketName)
	}
	if got.Reason != "InSync" || got.UID != string(b.UID) {
		t.Errorf("Reason = %q, UID = %q, want InSync, %s", got.Reason, got.UID, b.UID)
	}
	if got.Passes < 1 || got.NextCheck == nil || got.Live != nil {
		t.Errorf("Passes = %d, NextCheck = %v, Live = %v; want some, a time, none", got.Passes, got.NextCheck, got.Live)
	}
	if strings.Contains(body, "AKIA") || strings.Contains(body, "secret") {
		t.Errorf("the record holds a secret: %s", body)
	}
}

// worked checks what the operator reports about its controllers after it has created a bucket.
func (o *inspected) worked(t *testing.T) {
	t.Helper()
	status, body := o.get(t, operatorapi.ActivityPath,
		accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience))
	var got operatorapi.Activity
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	if !slices.ContainsFunc(got.Controllers, func(c operatorapi.Controller) bool {
		return c.Name == "s3bucket" && c.Passes > 0 && c.Workers > 0 && c.Queued >= 0
	}) || !slices.ContainsFunc(got.Services, func(s operatorapi.Service) bool {
		return s.Name == "S3" && s.Calls > 0
	}) {
		t.Errorf("the work is %s", body)
	}
}

// tenantToken returns a token that anybody in a team can create.
func tenantToken(t *testing.T, namespace string) string {
	t.Helper()
	create(t, admin(t), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ci"}})
	return accountToken(t, namespace, "ci", operatorapi.Audience)
}

// teamToLookAt creates a team whose resources payments-dev can view.
func teamToLookAt(t *testing.T, c client.Client) string {
	t.Helper()
	ns := team(t, c)
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "payments"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:team-payments"}},
	})
	return ns
}

func TestThePortalShowsChecks(t *testing.T) {
	o := startInspected(t)
	ns := teamToLookAt(t, o)
	q := queueOf(ns, "orders")
	create(t, o, q)
	ready(t, o, q)
	if _, err := queueAPI(t).SendMessage(
		t.Context(), &sqs.SendMessageInput{
			QueueUrl: &q.Status.QueueURL, MessageBody: aws.String("hello"),
		}); err != nil {
		t.Fatal(err)
	}
	p, path := startPortal(t, "", sessionKeys(t)), "/namespaces/"+ns+"/sqsqueues/orders/checks"
	token := userToken(t, "payments-dev")
	becomes := func(state string) answer {
		t.Helper()
		var a answer
		await(t, "checks to be "+state, func() (bool, string) {
			a = p.call(t, token, "GET", path, nil)
			return a.status == http.StatusOK && a.body["state"] == state, a.raw
		})
		return a
	}
	a := becomes("checked")
	steps, _ := nested(a.body, "lastPlan", "steps").([]any)
	if len(steps) == 0 || nested(steps[0], "call") != "CreateQueue" {
		t.Errorf("steps = %v, want CreateQueue first", steps)
	}
	if got, err := nested(a.body, "live", "messages"), a.body["liveError"]; got != "1" || err != nil {
		t.Errorf("live messages = %v, %v, want 1", got, err)
	}
	p.call(t, userToken(t, "search-dev"), "GET", path, nil).want(t, http.StatusForbidden)
	p.call(t, token, "GET", "/namespaces/"+ns+"/sqsqueues/none/checks", nil).want(t, http.StatusNotFound)
	o.stop()
	began := time.Now()
	becomes("unknown")
	for range 3 {
		p.call(t, token, "GET", path, nil).want(t, http.StatusOK)
	}
	t.Logf("that the operator is away was told after %s", time.Since(began))
	o.again(t)
	becomes("checked")
	if strings.Contains(p.log.String(), "eyJ") {
		t.Error("the portal's log holds a token")
	}
}

// TestTheAnnouncementOutlivesRenewals checks that the annotations remain, although the leader election writes the Lease
// from its own copy every two seconds.
func TestTheAnnouncementOutlivesRenewals(t *testing.T) {
	o := startInspected(t)
	url, ca := o.announced(t)
	first := o.lease(t)
	renewals := map[string]bool{}
	await(t, "three renewals", func() (bool, string) {
		now := o.lease(t)
		renewals[now.Spec.RenewTime.String()] = true
		if now.Annotations[operatorapi.AnnotationURL] != url || now.Annotations[operatorapi.AnnotationCA] != ca {
			t.Fatalf("a renewal lost the announcement: %v", now.Annotations)
		}
		return len(renewals) > 3, fmt.Sprint(len(renewals))
	})
	bare := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`))
	if err := o.Patch(t.Context(), o.lease(t), bare); err != nil {
		t.Fatal(err)
	}
	if again, _ := o.announced(t); again != url {
		t.Errorf("announced %s, then %s", url, again)
	}
	if last := o.lease(t); *last.Spec.HolderIdentity != *first.Spec.HolderIdentity ||
		*last.Spec.LeaseTransitions != *first.Spec.LeaseTransitions {
		t.Errorf("the leader changed: %+v → %+v", first.Spec, last.Spec)
	}
}

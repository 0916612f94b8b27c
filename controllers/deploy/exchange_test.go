package deploy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/ciissuer"
)

// bench is an exchange over a cluster in memory.
type bench struct {
	t       *testing.T
	issuer  *ciissuer.Issuer
	cluster client.Client
	kube    *kubefake.Clientset
	lines   []string // of the log
	minted  int
	mux     *http.ServeMux
}

func teamWith(name string, rows ...v1alpha1.TeamDeployer) *v1alpha1.Team {
	return &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.TeamSpec{Deployers: rows}}
}

func rowOf(name string) v1alpha1.TeamDeployer {
	return v1alpha1.TeamDeployer{
		Name: name, Issuer: "ci-0", Repository: "acme/shop", RepositoryID: "74", Owner: "acme", OwnerID: "65",
		Branch: "main", Namespaces: []string{"n"}, Role: v1alpha1.DeployerDeveloper,
	}
}

func newBench(t *testing.T, teams ...*v1alpha1.Team) *bench {
	t.Helper()
	b := &bench{t: t, issuer: ciissuer.Start(t), kube: kubefake.NewClientset(), mux: http.NewServeMux()}
	policy := policyOf(b.issuer)
	policy.Name = v1alpha1.DeployPolicyName
	objects := []client.Object{policy}
	for _, team := range teams {
		objects = append(objects, team)
		for i := range team.Spec.Deployers {
			d := &team.Spec.Deployers[i]
			objects = append(objects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				Namespace: deploy.Namespace, Name: deploy.Account(team.Name, d.Name), UID: types.UID("uid-" + d.Name),
				Annotations: map[string]string{deploy.AnnotationConditions: Conditions(d, &policy.Spec.Issuers[0])},
			}})
		}
	}
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b.cluster = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithIndex(&v1alpha1.Team{},
		IndexRepository, func(o client.Object) (all []string) {
			for _, d := range o.(*v1alpha1.Team).Spec.Deployers {
				all = append(all, RepositoryKeys(d.Issuer, string(d.RepositoryID), d.Repository)...)
			}
			return all
		}).Build()
	b.kube.PrependReactor("create", "serviceaccounts", b.mint)
	log := funcr.New(func(_, args string) { b.lines = append(b.lines, args) }, funcr.Options{})
	New(Exchange{
		Issuers: &Issuers{Audience: portal, Now: time.Now}, Cached: b.cluster, Log: log, Now: time.Now,
		Tokens:  &Tokens{Accounts: b.kube.CoreV1().ServiceAccounts(deploy.Namespace), Audiences: []string{"rest"}},
		Records: &Records{Leases: b.kube.CoordinationV1().Leases(deploy.Namespace), Now: time.Now, Log: log},
	}, b.cluster).Routes(b.mux)
	return b
}

// mint answers requests for tokens as the API server does.
func (b *bench) mint(a clienttesting.Action) (bool, runtime.Object, error) {
	create := a.(clienttesting.CreateActionImpl)
	b.minted++
	if create.Subresource != "token" {
		return false, nil, nil
	}
	r := create.Object.(*authenticationv1.TokenRequest).DeepCopy()
	audiences := r.Spec.Audiences
	if len(audiences) == 0 {
		audiences = []string{"https://kubernetes"}
	}
	_, name, _ := strings.Cut(create.Name, ".")
	payload, err := json.Marshal(map[string]any{
		"jti": fmt.Sprint("id-", b.minted), "aud": audiences,
		"kubernetes.io": map[string]any{"serviceaccount": map[string]string{"uid": "uid-" + name}},
	})
	part := base64.RawURLEncoding.EncodeToString
	r.Status.Token = part([]byte(`{"alg":"RS256"}`)) + "." + part(payload) + "." + part([]byte("signature"))
	r.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(deploy.Lifetime))
	return true, r, err
}

// ask exchanges a token with these claims.
func (b *bench) ask(claims map[string]any) (status int, got operatorapi.Exchanged, detail string) {
	b.t.Helper()
	b.lines = nil
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, operatorapi.ExchangeFor(""), http.NoBody)
	token := b.issuer.Sign(claims)
	r.Header.Set(operatorapi.HeaderPerson, token)
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	var said operatorapi.Problem
	if w.Code == http.StatusOK {
		_ = json.Unmarshal(w.Body.Bytes(), &got)
	} else {
		_ = json.Unmarshal(w.Body.Bytes(), &said)
	}
	for _, line := range b.lines {
		if strings.Contains(line, token) || got.Token != "" && strings.Contains(line, got.Token) {
			b.t.Errorf("a line of the log has a token: %s", line)
		}
	}
	return w.Code, got, said.Detail
}

// audit returns the audit line of the last exchange.
func (b *bench) audit() string {
	b.t.Helper()
	var all []string
	for _, line := range b.lines {
		if strings.Contains(line, `"audit"=true`) {
			all = append(all, line)
		}
	}
	if len(all) != 1 {
		b.t.Fatalf("%d audit lines: %q", len(all), all)
	}
	return all[0]
}

// TestTeamsWithTheSameRepositoryName exchanges tokens of two repositories called acme/shop, of which each belongs to
// another team: the IDs decide.
func TestTeamsWithTheSameRepositoryName(t *testing.T) {
	theirs := rowOf("theirs")
	theirs.RepositoryID, theirs.OwnerID = "75", "66"
	b := newBench(t, teamWith("growth", rowOf("release")), teamWith("search", theirs))
	for ids, want := range map[[2]string]string{{"74", "65"}: "growth/release", {"75", "66"}: "search/theirs"} {
		claims := b.issuer.GitHub(portal)
		claims["repository_id"], claims["repository_owner_id"] = ids[0], ids[1]
		if status, got, detail := b.ask(claims); status != http.StatusOK || got.Deployer != want {
			t.Errorf("%v: %d %s %s, want %s", ids, status, got.Deployer, detail, want)
		}
		if line := b.audit(); !strings.Contains(line, `"decision"="allow" "outcome"="done"`) ||
			!strings.Contains(line, `"run"="4711"`) {
			t.Errorf("the audit line: %s", line)
		}
		if status, _, detail := b.ask(claims); status != http.StatusBadRequest || !strings.Contains(detail, "jti") {
			t.Errorf("%v again: %d %s", ids, status, detail)
		}
	}
	claims := b.issuer.GitHub(portal)
	claims["repository_id"] = "75" // with the owner of the other one
	status, _, detail := b.ask(claims)
	if status != http.StatusBadRequest || !strings.Contains(detail, `repository_owner_id "65"`) {
		t.Errorf("mixed IDs: %d %s", status, detail)
	}
	if line := b.audit(); !strings.Contains(line, `"decision"="deny"`) || !strings.Contains(line, `"actor"=""`) {
		t.Errorf("the audit line: %s", line)
	}
}

// TestAnAccountOfOtherConditionsIssuesNothing exchanges a token for a deployer whose account is not what the row asks
// for yet: its tokens would outlive the change.
func TestAnAccountOfOtherConditionsIssuesNothing(t *testing.T) {
	b := newBench(t, teamWith("growth", rowOf("release")))
	team := &v1alpha1.Team{}
	if err := b.cluster.Get(t.Context(), types.NamespacedName{Name: "growth"}, team); err != nil {
		t.Fatal(err)
	}
	team.Spec.Deployers[0].Events = []string{"push"}
	if err := b.cluster.Update(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	status, _, detail := b.ask(b.issuer.GitHub(portal))
	if status != http.StatusServiceUnavailable || !strings.Contains(detail, "not set up yet") {
		t.Errorf("%d %s", status, detail)
	}
	if b.minted != 0 {
		t.Errorf("%d tokens were issued", b.minted)
	}
}

// TestRecordsEnd deletes the records that have ended, and no others.
func TestRecordsEnd(t *testing.T) {
	c := &clock{now: time.Now()}
	kube := kubefake.NewClientset()
	r := &Records{Leases: kube.CoordinationV1().Leases(deploy.Namespace), Now: c.Now}
	issuer := &v1alpha1.DeployIssuer{URL: "https://ci.example.com"}
	for id, expires := range map[string]time.Duration{"short": time.Minute, "long": 20 * time.Hour} {
		of := &token{issuer: issuer, id: id, expires: c.Now().Add(expires)}
		m := &minted{credential: id, expires: c.Now().Add(deploy.Lifetime)}
		if err := r.Add(t.Context(), of, m, deploy.Run{Repository: "acme/shop"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{0, 2}, {time.Hour, 1}, {20 * time.Hour, 0}} {
		c.move(step.after)
		if err := r.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := r.Leases.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != step.left {
			t.Errorf("after %s: %v %d records, want %d", step.after, err, len(list.Items), step.left)
		}
	}
}

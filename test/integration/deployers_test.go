//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/ciissuer"
	"github.com/portico-platform/portico/test/stack"
)

// pipelines are a team with deployers, a CI system, and the platform.
type pipelines struct {
	*inspected
	t      *testing.T
	issuer *ciissuer.Issuer
	portal *replica
	team   *v1alpha1.Team
}

// deployerOf returns a deployer of acme/shop's branch main.
func deployerOf(name, ns string) v1alpha1.TeamDeployer {
	return v1alpha1.TeamDeployer{
		Name: name, Issuer: "ci", Repository: "acme/shop", RepositoryID: "74", Owner: "acme", OwnerID: "65",
		Branch: "main", Namespaces: []string{ns}, Role: v1alpha1.DeployerDeveloper,
	}
}

// startPipelines starts an operator and a portal that exchange the tokens of an issuer, for a team with one deployer.
func startPipelines(t *testing.T) *pipelines {
	t.Helper()
	p := &pipelines{t: t, issuer: ciissuer.Start(t), portal: startPortal(t, "", sessionKeys(t))}
	p.inspected = startInspectedAs(t, &inspected{
		Client: admin(t), people: peopleOf(world.Issuer), audience: p.portal.url,
	})
	p.allow(v1alpha1.IssuerGitHub, "65")
	p.team = teamOf(t, p.Client)
	p.team.Spec.Quotas = nil
	p.team.Spec.Deployers = []v1alpha1.TeamDeployer{deployerOf("release", p.team.Name)}
	createReady(t, p.Client, p.team)
	return p
}

// allow makes the DeployPolicy: the issuer, and the IDs of owners called acme.
func (p *pipelines) allow(kind v1alpha1.IssuerType, owners ...string) {
	p.t.Helper()
	policy := &v1alpha1.DeployPolicy{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DeployPolicyName}}
	issuer := v1alpha1.DeployIssuer{Name: "ci", Type: kind, URL: p.issuer.URL, CABundle: p.issuer.CA}
	for _, id := range owners {
		issuer.Owners = append(issuer.Owners, v1alpha1.DeployOwner{ID: v1alpha1.ForgeID(id), Name: "acme"})
	}
	policy.Spec.Issuers = []v1alpha1.DeployIssuer{issuer}
	spec := policy.Spec
	if err := p.Create(p.t.Context(), policy); err == nil {
		p.t.Cleanup(func() { _ = p.Delete(context.Background(), policy) })
	} else if !apierrors.IsAlreadyExists(err) {
		p.t.Fatal(err)
	}
	edit(p.t, p.Client, policy, func(x *v1alpha1.DeployPolicy) { x.Spec = spec })
	ready(p.t, p.Client, policy)
}

// exchanged is a response of the token endpoint.
type exchanged struct {
	status      int
	Token       string `json:"access_token"`
	TokenType   string `json:"token_type"`
	Issued      string `json:"issued_token_type"`
	Expires     int    `json:"expires_in"`
	Scope       string `json:"scope"`
	Run         string `json:"portico_run"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// exchange sends a token of a CI job, once the deployer is set up: its account is made again when its issuer changes.
// more are parameters, "" removes one.
func (p *pipelines) exchange(token string, more ...string) (got exchanged) {
	p.t.Helper()
	await(p.t, "the deployer to be set up", func() (bool, string) {
		got = p.exchangeNow(token, more...)
		return !strings.Contains(got.Description, "not set up yet"), got.Description
	})
	return got
}

func (p *pipelines) exchangeNow(token string, more ...string) exchanged {
	p.t.Helper()
	secrets.Plant("a token of a CI job", token)
	form := url.Values{
		"grant_type": {deploy.GrantType}, "subject_token": {token}, "subject_token_type": {deploy.TypeJWT},
	}
	for i := 0; i+1 < len(more); i += 2 {
		if form.Del(more[i]); more[i+1] != "" {
			form.Set(more[i], more[i+1])
		}
	}
	return p.post(form.Encode(), "application/x-www-form-urlencoded")
}

func (p *pipelines) post(body, kind string) exchanged {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.portal.url+deploy.TokenPath,
		strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req) // its answers have the token, and are not searched for it
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	out := exchanged{status: resp.StatusCode}
	if err != nil || json.Unmarshal(raw, &out) != nil {
		p.t.Fatalf("%d %s %v", resp.StatusCode, raw, err)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		p.t.Errorf("Cache-Control %q", got)
	}
	secrets.Plant("a token of a deployer", out.Token)
	return out
}

// trade exchanges a token of the issuer with these claims, and fails if it is refused.
func (p *pipelines) trade(claims map[string]any, more ...string) exchanged {
	p.t.Helper()
	got := p.exchange(p.issuer.Sign(claims), more...)
	if got.status != http.StatusOK {
		p.t.Fatalf("%d %s: %s", got.status, got.Error, got.Description)
	}
	return got
}

// TestAPipelineDeploysWithoutASecret exchanges a token of GitHub's kind, and makes a bucket with it: by REST and as
// kubectl does. The requester, the history and the Team's status name the run.
func TestAPipelineDeploysWithoutASecret(t *testing.T) {
	p := startPipelines(t)
	ns := p.team.Name
	got := p.trade(p.issuer.GitHub(p.portal.url))
	want := exchanged{
		status: http.StatusOK, TokenType: "Bearer", Issued: deploy.TypeAccess, Scope: ns + "/release",
		Run: "acme/shop, Deploy, commit 1f3a9c04d2, run 4711",
	}
	said := got
	if said.Token, said.Expires = "", 0; said != want {
		t.Errorf("%+v, want %+v", said, want)
	}
	if got.Expires < 800 || got.Expires > 900 {
		t.Errorf("it expires in %d s", got.Expires)
	}
	body := map[string]any{
		"metadata": map[string]any{"name": "by-rest"},
		"spec":     map[string]any{"providerRef": map[string]any{"name": stack.Provider}},
	}
	p.portal.call(t, got.Token, "POST", "/namespaces/"+ns+"/s3buckets", body).want(t, http.StatusCreated)
	cfg := rest.AnonymousClientConfig(world.Admin)
	cfg.BearerToken = got.Token
	own, err := client.New(cfg, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	direct := bucketOf(ns, "by-kubectl")
	create(t, own, direct)
	for _, name := range []string{"by-rest", "by-kubectl"} {
		b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		ready(t, p.Client, b)
		if who := b.Annotations[v1alpha1.AnnotationRequestedBy]; who != deploy.Username(ns, "release") ||
			b.Status.RequestedRun != got.Run {
			t.Errorf("%s: requested by %q in run %q", name, who, b.Status.RequestedRun)
		}
		record := &appsv1.ControllerRevision{}
		if err := p.Get(
			t.Context(),
			client.ObjectKey{Namespace: ns, Name: "portico-" + string(b.UID) + "-1"},
			record,
		); err != nil ||
			record.Annotations[v1alpha1.AnnotationChangedRun] != got.Run {
			t.Errorf("the history of %s: %v %v", name, err, record.Annotations)
		}
	}
	await(t, "the Team to say when it was used", func() (bool, string) {
		s := p.status()
		return s.LastUsed != nil && s.LastRun == got.Run, fmt.Sprintf("%+v", s)
	})
	if out := p.kubectl(got.Token, "get", "s3buckets", "-n", ns, "-o", "name"); !strings.Contains(out, "by-kubectl") {
		t.Errorf("kubectl get: %s", out)
	}
	await(t, "the run in the activity of the team", func() (bool, string) {
		all := p.portal.call(t, got.Token, "GET", "/activity?namespace="+ns, nil)
		return strings.Contains(all.raw, "run 4711"), all.raw
	})
	// A token counts once.
	claims := p.issuer.GitHub(p.portal.url)
	p.trade(claims)
	if again := p.exchange(p.issuer.Sign(claims)); again.status != http.StatusBadRequest ||
		again.Error != "invalid_request" || !strings.Contains(again.Description, "jti") {
		t.Errorf("replayed: %+v", again)
	}
}

// kubectl runs kubectl with the token of a deployer.
func (p *pipelines) kubectl(token string, args ...string) string {
	p.t.Helper()
	config := filepath.Join(p.t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{"c": {
			Server: world.Admin.Host, CertificateAuthority: world.Admin.CAFile,
			CertificateAuthorityData: world.Admin.CAData,
		}},
		AuthInfos: map[string]*api.AuthInfo{"deployer": {Token: token}},
		Contexts:  map[string]*api.Context{"c": {Cluster: "c", AuthInfo: "deployer"}}, CurrentContext: "c",
	}, config)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), "../../bin/kubectl", append(args, "--kubeconfig", config)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// status returns the status of the team's deployer.
func (p *pipelines) status() v1alpha1.TeamDeployerStatus {
	p.t.Helper()
	now := &v1alpha1.Team{}
	if err := p.Get(p.t.Context(), client.ObjectKeyFromObject(p.team), now); err != nil {
		p.t.Fatal(err)
	}
	if len(now.Status.Deployers) == 0 {
		return v1alpha1.TeamDeployerStatus{}
	}
	return now.Status.Deployers[0]
}

// TestClaimsOfAJobAreEachChecked makes each claim wrong once, in tokens of both kinds. The refusal has the caller's
// value, and not the expected one.
func TestClaimsOfAJobAreEachChecked(t *testing.T) {
	p := startPipelines(t)
	soon, past := time.Now().Add(time.Hour).Unix(), time.Now().Add(-time.Hour).Unix()
	type wrong struct {
		claims map[string]any
		says   string
	}
	github := map[string]wrong{
		"another issuer": {
			map[string]any{"iss": "https://evil.example.com"},
			`iss "https://evil.example.com"`,
		},
		"another audience": {map[string]any{"aud": "sts.amazonaws.com"}, `aud "sts.amazonaws.com"`},
		"two audiences":    {map[string]any{"aud": []string{p.portal.url, "x"}}, "aud "},
		"no audience":      {map[string]any{"aud": nil}, "aud "},
		"ended":            {map[string]any{"exp": past}, "exp "},
		"no end":           {map[string]any{"exp": nil}, "exp and iat"},
		"for years":        {map[string]any{"exp": time.Now().AddDate(1, 0, 0).Unix()}, "longer than a day"},
		"from the future":  {map[string]any{"iat": soon}, "iat "},
		"no beginning":     {map[string]any{"iat": nil}, "exp and iat"},
		"not yet":          {map[string]any{"nbf": soon}, "nbf "},
		"no ID":            {map[string]any{"jti": nil}, "jti "},
		"another repository": {
			map[string]any{"repository_id": "75", "repository": "acme/other"},
			`repository_id "75"`,
		},
		"the same name, taken":     {map[string]any{"repository_id": "75"}, `repository_id "75"`},
		"renamed":                  {map[string]any{"repository": "acme/store"}, `repository "acme/store"`},
		"another owner":            {map[string]any{"repository_owner_id": "66"}, `repository_owner_id "66"`},
		"an owner that is renamed": {map[string]any{"repository_owner": "apex"}, `repository_owner "apex"`},
		"another branch":           {map[string]any{"ref": "refs/heads/dev"}, `ref "dev"`},
		"a tag of that name":       {map[string]any{"ref": "refs/tags/main", "ref_type": "tag"}, "ref is missing"},
		"a branch like a ref":      {map[string]any{"ref": "refs/heads/refs/heads/main"}, `ref "refs/heads/main"`},
		"a pull request": {
			map[string]any{"ref": "refs/pull/7/merge", "event_name": "pull_request"},
			"ref is missing",
		},
		"its target": {
			map[string]any{"event_name": "pull_request_target"},
			`event_name "pull_request_target"`,
		},
		"a comment": {map[string]any{"event_name": "issue_comment"}, `event_name "issue_comment"`},
		"no event":  {map[string]any{"event_name": nil}, "event_name is missing"},
	}
	try := func(name string, base map[string]any, w wrong) {
		claims := maps.Clone(base)
		for claim, value := range w.claims {
			if claims[claim] = value; value == nil {
				delete(claims, claim)
			}
		}
		got := p.exchange(p.issuer.Sign(claims))
		if code := fmt.Sprint(got.status, " ", got.Error); code != "400 invalid_request" ||
			!strings.Contains(got.Description, w.says) {
			t.Errorf("%s: %s %q, want %q", name, code, got.Description, w.says)
		}
		for _, expected := range []string{`"acme/shop"`, `"main"`, p.portal.url + `":`} {
			if strings.Contains(got.Description, expected) {
				t.Errorf("%s: it says what was expected: %s", name, got.Description)
			}
		}
	}
	for name, w := range github {
		try(name, p.issuer.GitHub(p.portal.url), w)
	}
	await(t, "the Team to say what was refused", func() (bool, string) {
		s := p.status()
		return s.LastRefused != nil && s.LastRefusal != "", fmt.Sprintf("%+v", s)
	})
	// A clock that is off by half a minute is taken.
	claims := p.issuer.GitHub(p.portal.url)
	claims["iat"], claims["nbf"] = time.Now().Add(30*time.Second).Unix(), time.Now().Add(30*time.Second).Unix()
	p.trade(claims)

	p.allow(v1alpha1.IssuerGitLab, "65")
	p.accountKept()
	for name, w := range map[string]wrong{
		"GitLab: another project":           {map[string]any{"project_id": "75"}, `project_id "75"`},
		"GitLab: another group":             {map[string]any{"namespace_id": "66"}, `namespace_id "66"`},
		"GitLab: renamed":                   {map[string]any{"project_path": "acme/store"}, `project_path "acme/store"`},
		"GitLab: another branch":            {map[string]any{"ref": "refs/heads/main"}, `ref "refs/heads/main"`},
		"GitLab: a tag of that name":        {map[string]any{"ref_type": "tag"}, "ref is missing"},
		"GitLab: a merge request":           {map[string]any{"pipeline_source": "merge_request_event"}, `pipeline_source "merge_request_event"`},
		"GitLab: a child of some pipeline":  {map[string]any{"pipeline_source": "parent_pipeline"}, `pipeline_source "parent_pipeline"`},
		"GitLab: a merge request of a fork": {map[string]any{"pipeline_source": "external_pull_request_event"}, "pipeline_source"},
	} {
		try(name, p.issuer.GitLab(p.portal.url), w)
	}
	p.trade(p.issuer.GitLab(p.portal.url))
}

// accountKept waits until the deployer can exchange tokens.
func (p *pipelines) accountKept() {
	p.t.Helper()
	await(p.t, "the account of the deployer", func() (bool, string) {
		s := p.status()
		return s.Name == "release", fmt.Sprintf("%+v", s)
	})
}

// TestForgedTokensOfJobsAreRefused sends tokens that are not signed by the issuer, or not at all.
func TestForgedTokensOfJobsAreRefused(t *testing.T) {
	p := startPipelines(t)
	stranger := ciissuer.Start(t)
	claims := func() map[string]any { return p.issuer.GitHub(p.portal.url) }
	known := p.issuer.Key()
	forged := stranger.Key()
	forged.KeyID = known.KeyID
	parts := strings.Split(p.issuer.Sign(claims()), ".")
	for name, token := range map[string]string{
		"an unknown key":          stranger.Sign(claims()),
		"a key of another":        ciissuer.Sign(t, forged, claims()),
		"no signature":            parts[0] + "." + parts[1] + ".",
		"a changed payload":       parts[0] + "." + parts[1][:len(parts[1])-4] + "AAAA." + parts[2],
		"alg none":                "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"no token":                "abc",
		"a token of Kubernetes":   userToken(t, "payments-dev"),
		"one that is much longer": strings.Repeat("a", 20<<10),
	} {
		got := p.exchange(token)
		later := name == "an unknown key" &&
			got.status == http.StatusServiceUnavailable // the issuer was asked just now
		if !later && fmt.Sprint(got.status, got.Error) != "400invalid_request" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	before := p.issuer.Fetches.Load()
	for range 300 {
		if got := p.exchange(stranger.Sign(claims())); got.Token != "" || got.Error == "" {
			t.Fatalf("%+v", got)
		}
	}
	if n := p.issuer.Fetches.Load() - before; n > 5 {
		t.Errorf("300 forged tokens fetched the keys %d times", n)
	}
	p.trade(claims()) // an honest one is not held up
	// The parameters, as RFC 8693 has them.
	honest := p.issuer.Sign(claims())
	for name, c := range map[string]struct {
		more []string
		code string
	}{
		"a token with a line":     {[]string{"subject_token", "a\nb.c.d"}, "invalid_request"},
		"another grant":           {[]string{"grant_type", "client_credentials"}, "unsupported_grant_type"},
		"no grant":                {[]string{"grant_type", ""}, "invalid_request"},
		"no token":                {[]string{"subject_token", ""}, "invalid_request"},
		"another type":            {[]string{"subject_token_type", "urn:ietf:params:oauth:token-type:saml2"}, "invalid_request"},
		"no type":                 {[]string{"subject_token_type", ""}, "invalid_request"},
		"an actor":                {[]string{"actor_token", "x"}, "invalid_request"},
		"another target":          {[]string{"audience", "https://elsewhere.example.com"}, "invalid_target"},
		"a scope that is no name": {[]string{"scope", "openid"}, "invalid_scope"},
		"a deployer that is not":  {[]string{"scope", "nobody/release"}, "invalid_request"},
	} {
		if got := p.exchange(honest, c.more...); got.status != http.StatusBadRequest || got.Error != c.code {
			t.Errorf("%s: %+v, want %s", name, got, c.code)
		}
	}
	if got := p.post(`{"grant_type":"x"}`, "application/json"); got.Error != "invalid_request" {
		t.Errorf("JSON: %+v", got)
	}
	// New keys count at once where none was fetched just now, and an issuer that is away says so.
	p.issuer.Away.Store(true)
	p.trade(claims()) // its key is known
	if got := p.exchange(stranger.Sign(claims())); got.status == http.StatusOK {
		t.Errorf("%+v", got)
	}
}

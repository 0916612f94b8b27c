//go:build integration

package integration

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestDeployersHaveTheirRightsAndNoOthers tries what a deployer may not do, and that its tokens end with its row.
func TestDeployersHaveTheirRightsAndNoOthers(t *testing.T) {
	p := startPipelines(t)
	ns := p.team.Name
	edit(t, p.Client, p.team, func(x *v1alpha1.Team) {
		some := deployerOf("queues", ns)
		some.Role, some.Kinds = "", []v1alpha1.RequestableKind{v1alpha1.KindSQSQueue}
		x.Spec.Deployers = append(x.Spec.Deployers, some)
	})
	await(t, "both deployers", func() (bool, string) {
		now := &v1alpha1.Team{}
		err := p.Get(t.Context(), client.ObjectKeyFromObject(p.team), now)
		return len(now.Status.Deployers) == 2, fmt.Sprint(err, now.Status.Deployers)
	})
	if got := p.exchange(p.issuer.Sign(p.issuer.GitHub(p.portal.url))); got.status != http.StatusBadRequest ||
		!strings.Contains(got.Description, ns+"/queues and "+ns+"/release") {
		t.Errorf("two that fit: %+v", got)
	}
	queues := p.trade(p.issuer.GitHub(p.portal.url), "scope", ns+"/queues").Token
	all := p.trade(p.issuer.GitHub(p.portal.url), "scope", ns+"/release").Token
	body := func(name string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"name": name},
			"spec":     map[string]any{"providerRef": map[string]any{"name": stack.Provider}},
		}
	}
	for _, c := range []struct {
		token, method, path string
		body                any
		want                int
	}{
		{queues, "POST", "/namespaces/" + ns + "/s3buckets", body("no"), http.StatusForbidden},
		{queues, "POST", "/namespaces/" + ns + "/sqsqueues", body("yes"), http.StatusCreated},
		{queues, "GET", "/namespaces/" + ns + "/s3buckets", nil, http.StatusOK},
		{all, "POST", "/namespaces/payments/s3buckets", body("theirs"), http.StatusForbidden},
		{all, "GET", "/namespaces/" + ns + "/secrets", nil, http.StatusForbidden},
		{all, "GET", "/teams/" + ns, nil, http.StatusForbidden},
		{all, "DELETE", "/teams/" + ns, nil, http.StatusForbidden},
	} {
		if got := p.portal.call(t, c.token, c.method, c.path, c.body); got.status != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, got.status, got.detail(), c.want)
		}
	}
	cfg := rest.AnonymousClientConfig(world.Admin)
	cfg.BearerToken = all
	own, err := client.New(cfg, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"its Team":      own.Get(t.Context(), client.ObjectKeyFromObject(p.team), &v1alpha1.Team{}),
		"role bindings": own.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"}}),
	} {
		if err == nil {
			t.Errorf("%s: it may", name)
		}
	}
	// The row goes, and so do its tokens, everywhere: on two replicas, at Kubernetes, and in streams.
	another := startPortal(t, "", sessionKeys(t))
	streams := []<-chan struct{}{p.follows(p.portal, all, ns), p.follows(another, all, ns)}
	edit(t, p.Client, p.team, func(x *v1alpha1.Team) { x.Spec.Deployers = x.Spec.Deployers[1:] })
	began := time.Now()
	await(t, "the token to end", func() (bool, string) {
		rest := p.portal.call(t, all, "GET", "/namespaces/"+ns+"/s3buckets", nil)
		err := own.List(t.Context(), &v1alpha1.S3BucketList{}, client.InNamespace(ns))
		return rest.status == http.StatusUnauthorized && err != nil, fmt.Sprint(rest.status, err)
	})
	for i, ended := range streams {
		select {
		case <-ended:
		case <-time.After(time.Minute - time.Since(began)):
			t.Errorf("stream %d goes on", i)
		}
	}
	if got := another.call(t, all, "GET", "/namespaces/"+ns+"/s3buckets", nil); got.status != http.StatusUnauthorized {
		t.Errorf("another replica answers %d", got.status)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the token lived on for %s", took)
	}
}

// follows opens a stream of buckets at a replica, and returns a channel that is closed at its end.
func (p *pipelines) follows(at *replica, token, ns string) <-chan struct{} {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet,
		at.url+"/api/v1/namespaces/"+ns+"/s3buckets?watch=true", http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := plainly().Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%v %v", resp, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(io.Discard, resp.Body) // until it ends
	}()
	return ended
}

// TestTheDeployPolicyLimitsOwners tries deployers that an owner of a team must not add.
func TestTheDeployPolicyLimitsOwners(t *testing.T) {
	p := startPipelines(t)
	ns := p.team.Name
	for says, change := range map[string]func(*v1alpha1.TeamDeployer){
		"the DeployPolicy has no issuer circle; it has ci": func(d *v1alpha1.TeamDeployer) { d.Issuer = "circle" },
		"does not let this team name repositories of evil": func(d *v1alpha1.TeamDeployer) { d.Owner, d.Repository = "evil", "evil/shop" },
		"(ownerID 66)":                                                  func(d *v1alpha1.TeamDeployer) { d.OwnerID = "66" },
		"deploys in namespaces of the team":                             func(d *v1alpha1.TeamDeployer) { d.Namespaces = []string{"payments"} },
		"set one of the three":                                          func(d *v1alpha1.TeamDeployer) { d.Tag = "v1" },
		"set role or kinds":                                             func(d *v1alpha1.TeamDeployer) { d.Role = "" },
		"repository is its owner and its name":                          func(d *v1alpha1.TeamDeployer) { d.Repository = "other/shop" },
		"is the whole path of the groups":                               func(d *v1alpha1.TeamDeployer) { d.Repository = "acme/web/shop" },
		"spec.deployers[1].branch in body should match":                 func(d *v1alpha1.TeamDeployer) { d.Branch = "release/*" },
		`spec.deployers[1].role: Unsupported value: "Owner": supported`: func(d *v1alpha1.TeamDeployer) { d.Role = "Owner" },
	} {
		x := &v1alpha1.Team{}
		if err := p.Get(t.Context(), client.ObjectKeyFromObject(p.team), x); err != nil {
			t.Fatal(err)
		}
		d := deployerOf("second", ns)
		change(&d)
		x.Spec.Deployers = append(x.Spec.Deployers, d)
		if err := p.Update(t.Context(), x); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	// The policy no longer allows the owner: the deployer loses its account, the Team says why, and other edits pass.
	p.allow(v1alpha1.IssuerGitHub, "99")
	condition := reason(t, p.Client, p.team, v1alpha1.ReasonDeployerNotAllowed)
	if !strings.Contains(condition.Message, "acme (ownerID 65)") {
		t.Errorf("%+v", condition)
	}
	edit(t, p.Client, p.team, func(x *v1alpha1.Team) { x.Spec.Contact = "somebody@example.com" })
	if got := p.exchangeNow(p.issuer.Sign(p.issuer.GitHub(p.portal.url))); got.status == http.StatusOK {
		t.Errorf("%+v", got)
	}
}

// TestAJobLogsInByTheCommandLine runs what docs/ci.md has for GitHub Actions and GitLab CI.
func TestAJobLogsInByTheCommandLine(t *testing.T) {
	p := startPipelines(t)
	ns := p.team.Name
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(p.issuer.CA), 0o600); err != nil {
		t.Fatal(err)
	}
	job := newTerminal(t, append(p.issuer.Job(p.issuer.GitHub("")), "PORTICO_CA_FILE="+ca)...)
	if _, out := job.run(
		0,
		"login",
		p.portal.url,
		"--ci",
	); !strings.Contains(
		out,
		"as deployer "+ns+"/release, for acme/shop, Deploy",
	) {
		t.Errorf("login: %s", out)
	}
	p.runsAsWritten(job, "- run: portico ")
	job.run(0, "wait", "bucket", "from-ci", "-n", ns)
	if out, _ := job.run(
		0,
		"describe",
		"bucket",
		"from-ci",
		"-n",
		ns,
	); !strings.Contains(
		out,
		"acme/shop, Deploy, commit 1f3a9c04d2, run 4711",
	) {
		t.Errorf("describe: %s", out)
	}
	for name, c := range map[string]struct {
		env  []string
		at   string
		says string
	}{
		"a server that asks for another audience": {
			at: strings.Replace(p.portal.url, "127.0.0.1", "localhost", 1), says: "is not its address",
		},
		"no permission": {env: []string{"GITHUB_ACTIONS=true"}, says: "permissions: id-token: write"},
		"no id_token":   {env: []string{"GITLAB_CI=true"}, says: "id_tokens: PORTICO_ID_TOKEN"},
		"no CI":         {says: "no job of GitHub Actions or GitLab CI"},
		"another job": {
			env:  append(p.issuer.Job(map[string]any{"iss": p.issuer.URL}), "PORTICO_CA_FILE="+ca),
			says: "does not take the job's token",
		},
	} {
		if _, out := newTerminal(
			t,
			c.env...).run(4, "login", cmp.Or(c.at, p.portal.url), "--ci"); !strings.Contains(
			out,
			c.says,
		) {
			t.Errorf("%s: %s", name, out)
		}
	}

	p.allow(v1alpha1.IssuerGitLab, "65")
	p.accountKept()
	used := p.issuer.Sign(p.issuer.GitLab(p.portal.url))
	p.exchange(used)
	pipeline := newTerminal(t, "GITLAB_CI=true", "PORTICO_ID_TOKEN="+used,
		"PORTICO_ID_TOKEN_2="+p.issuer.Sign(p.issuer.GitLab(p.portal.url)))
	if _, out := pipeline.run(
		0,
		"login",
		p.portal.url,
		"--ci",
		"--deployer",
		ns+"/release",
	); !strings.Contains(
		out,
		"as deployer "+ns+"/release",
	) {
		t.Errorf("login: %s", out)
	}
	pipeline.run(0, "get", "buckets", "-n", ns)
	p.runsAsWritten(newTerminal(t, "GITLAB_CI=true",
		"PORTICO_ID_TOKEN="+p.issuer.Sign(p.issuer.GitLab(p.portal.url))), "- portico ")
}

// runsAsWritten runs the commands of docs/ci.md that begin so, of which the last applies a folder.
func (p *pipelines) runsAsWritten(at *terminal, begin string) {
	p.t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		p.t.Fatal(err)
	}
	folder := filepath.Join(at.dir, "platform")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		p.t.Fatal(err)
	}
	manifest := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: from-ci}\n" +
		"spec: {providerRef: {name: " + stack.Provider + "}}\n"
	if err := os.WriteFile(filepath.Join(folder, "bucket.yaml"), []byte(manifest), 0o600); err != nil {
		p.t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), begin)
		if !ok {
			continue
		}
		command = strings.NewReplacer("https://portal.example.com", p.portal.url, "growth/", p.team.Name+"/",
			"-n growth", "-n "+p.team.Name, "platform/", folder).Replace(command)
		at.run(0, strings.Fields(command)...)
		ran++
	}
	if ran != 2 {
		p.t.Errorf("%d commands begin with %q, want 2", ran, begin)
	}
}

package main

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
)

const (
	oneAccount  = `{"items": [], "defaults": {"provider": "aws-main"}, "providers": [{"name": "aws-main", "ready": true}]}`
	twoAccounts = `{"items": [], "providers": [{"name": "aws-main", "ready": true}, {"name": "aws-test", "ready": true}]}`
	made        = `{"apiVersion": "portico.dev/v1alpha1", "kind": "RDSInstance", "metadata": {"name": "orders", "namespace": "payments"}, "spec": {"engine": "postgres"}}`
)

// at returns a terminal with typed input.
func at(t *testing.T, p *fake, typed string) *terminal {
	t.Helper()
	term := newTerminal(t, p.url)
	term.in, term.asks = strings.NewReader(typed), true
	return term
}

func TestRequestAsksForWhatIsMissing(t *testing.T) {
	p := newPortal(t)
	p.on("GET /catalog?namespace=payments", 200, twoAccounts)
	p.on("POST "+databases+"?dryRun=All", 201, made)
	p.on("POST "+databases, 201, made)
	_,
		said := at(
		t, p,
		"databse\ndatabase\nOrders!\norders\naws\naws-test\nPostgres\ndb.t4g.micro\nmuch\n2\n20\nowner\nyes\n").run(0,
		"request")
	for _, want := range []string{
		"What do you need?\n  bucket, database, ", "kind: there is no kind \"databse\"; did you mean database?\n",
		"name: Use lower-case letters, digits and hyphens, with",
		"Which AWS account?\n  aws-main, aws-test\nproviderRef: Choose aws-main or aws-test.\n",
		"allocatedStorage: Enter a whole number from 20 to 65536.\nallocatedStorage: Enter a whole number",
		"The same without questions:\n  portico request database orders -n payments --set providerRef=aws-test --set " +
			"engine=postgres --set dbInstanceClass=db.t4g.micro --set allocatedStorage=20 --set masterUsername=owner\n",
		"This will be requested in payments. Nothing has been created yet.\n\n  apiVersion: portico.dev/v1alpha1\n",
		"Type yes to go on: Requested database orders in payments.\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("lacks %q: %s", want, said)
		}
	}
	want := map[string]any{
		"providerRef": map[string]any{"name": "aws-test"}, "engine": "postgres", "dbInstanceClass": "db.t4g.micro",
		"allocatedStorage": 20.0, "masterUsername": "owner",
	}
	if got := p.bodies["POST "+databases]["spec"]; !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
}

func TestRequestAsksNoMoreThanItMust(t *testing.T) {
	whole := []string{"request", "bucket", "a", "-n", "payments"}
	for _, c := range []struct {
		name, offers, typed string
		script              bool
		args                []string
		code                int
		want                string
		creates             int
	}{
		{"nothing in a script", twoAccounts, "", true, []string{"request"}, 2, "portico: what? Name a kind and a name", 0},
		{"nothing where all is there", oneAccount, "", false, whole, 0, "Requested bucket a in payments.\n", 1},
		{"the name alone", oneAccount, "a\nyes\n", false, []string{"request", "bucket"}, 0, "Requested bucket a in payments.\n", 1},
		{"no agreement", oneAccount, "a\nno\n", false, []string{"request", "bucket"}, 1, "portico: that is not yes: nothing was changed\n", 0},
		{"no answer", oneAccount, "", false, []string{"request", "bucket"}, 1, "portico: no answer: nothing was changed\n", 0},
		{
			"no account to choose", `{"items": []}`, "a\n", false,
			[]string{"request", "bucket"},
			1,
			"portico: payments cannot use any AWS account yet\n  Ask a platform admin to let the team use one.\n", 0,
		},
		{"a choice in a script", twoAccounts, "", true, whole, 2, "portico: which AWS account? Name it with --set providerRef=NAME: payments can use aws-main or aws-test\n", 0},
		{"a kind that nobody requests", oneAccount, "", false, []string{"request", "poolgateway"}, 2, "cannot be requested", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET /catalog?namespace=payments", 200, c.offers)
			p.on("POST "+buckets+"?dryRun=All", 201, bucket("a", "Unknown", ""))
			p.on("POST "+buckets, 201, bucket("a", "Unknown", ""))
			term := at(t, p, c.typed)
			term.asks = !c.script
			if _, said := term.run(c.code, c.args...); !strings.Contains(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
			if n := p.times("POST " + buckets); n != c.creates {
				t.Errorf("created %d", n)
			}
		})
	}
}

func TestRequestAsksForTheTeamAndOffersWhatThereIs(t *testing.T) {
	const users = "/namespaces/search/databaseusers"
	p := newPortal(t)
	p.on("GET /me", 200, `{"username": "oidc:jane", "groups": [], "namespaces": ["payments", "search"]}`)
	p.on("GET /catalog?namespace=search", 200, oneAccount)
	p.on("GET /namespaces/search/rdsinstances", 200,
		`{"items": [{"kind": "RDSInstance", "metadata": {"name": "ledger"}}]}`)
	p.on("POST "+users+"?dryRun=All", 422,
		`{"status": 422, "detail": "the request is not valid", "errors": [{"location": "body.spec.access", "message": "is wrong"}]}`)
	_, said := at(t, p, "search\nme\nledger\n").run(1, "request", "database-user")
	for _, want := range []string{
		"For which team?\n  payments, search\nnamespace: ", "\n  ledger\ndatabaseRef: ",
		"portico request database-user me -n search --set databaseRef=ledger\n", "  spec.access: is wrong\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("lacks %q: %s", want, said)
		}
	}
}

// TestAQuestionCanBeInterrupted checks that Ctrl-C ends a command that waits for an answer.
func TestAQuestionCanBeInterrupted(t *testing.T) {
	p := newPortal(t)
	never, end := io.Pipe()
	defer func() { _ = end.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	term := at(t, p, "")
	w := term.world
	w.in, w.out, w.err = never, &term.out, stopper{cancel}
	if got := run(ctx, []string{"request"}, w); got != exitInterrupted {
		t.Errorf("exits with %d", got)
	}
}

func TestRequestsInScriptsUseTheOnlyAWSAccount(t *testing.T) {
	p := newPortal(t)
	p.on("GET /catalog?namespace=payments", 200, oneAccount)
	p.on("POST "+buckets, 201, bucket("a", "Unknown", ""))
	newTerminal(t, p.url).run(0, "request", "bucket", "a")
	spec, _ := p.bodies["POST "+buckets]["spec"].(map[string]any)
	if !reflect.DeepEqual(spec["providerRef"], map[string]any{"name": "aws-main"}) {
		t.Errorf("sent %v", spec)
	}
}

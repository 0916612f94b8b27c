package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDeletingAsksForTheName(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		yes         bool
		code        int
	}{
		{"the name", "a\n", false, 0}, {"another name", "b\n", false, 1}, {"nothing", "", false, 1}, {"nobody is asked", "", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			sent := "DELETE " + buckets + "/a"
			if !c.yes {
				sent += "?confirm=a"
			}
			if c.code == 0 {
				p.on(sent, 202, bucket("a", "True", ""))
			}
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), true
			args := []string{"delete", "bucket", "a"}
			if c.yes {
				args = append(args, "--yes")
			}
			_, said := term.run(c.code, args...)
			if slices.Contains(p.asked, sent) != (c.code == 0) {
				t.Errorf("asked %q", p.asked)
			}
			if !c.yes && !strings.Contains(said, "bucket a in payments will be forgotten by Portico; what it stands "+
				"for in AWS stays.") {
				t.Errorf("does not say what is lost: %s", said)
			}
		})
	}
}

// TestAScriptConfirmsByTheName: without a terminal, --confirm with the name confirms a deletion, and --yes does not.
func TestAScriptConfirmsByTheName(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
	p.on("DELETE "+buckets+"/a?confirm=a", 202, bucket("a", "True", ""))
	p.on("DELETE "+buckets+"/a", 403,
		`{"status": 403, "detail": "kubectl annotate s3buckets a portico.dev/confirm-deletion=a"}`, "Content-Type",
		"application/problem+json")
	newTerminal(t, p.url).run(0, "delete", "bucket", "a", "--confirm", "a")
	if _, said := newTerminal(t, p.url).run(exitForbidden, "delete", "bucket", "a", "--yes"); !strings.Contains(
		said, "add --confirm a") {
		t.Errorf("does not say how to confirm: %s", said)
	}
	if _, said := newTerminal(t, p.url).run(exitUsage, "delete", "bucket", "a", "--confirm", "b"); !strings.Contains(
		said, "--confirm says b, and the resource is called a") {
		t.Errorf("does not say that the name is another one: %s", said)
	}
}

func TestWhatIsInUseIsNotAskedAbout(t *testing.T) {
	p := newPortal(t)
	used := strings.Replace(bucket("a", "True", ""), `"status": {`,
		`"status": {"usedBy": [{"kind": "WebApp", "name": "shop"}], `, 1)
	p.on("GET "+buckets+"/a", 200, used, "ETag", etag)
	term := newTerminal(t, p.url)
	term.in, term.asks = strings.NewReader("a\n"), true
	if _, said := term.run(exitForbidden, "delete", "bucket", "a"); !strings.Contains(said, "in use by WebApp shop") ||
		strings.Contains(said, "Type the name") {
		t.Errorf("said %s", said)
	}
}

// TestWhatADeletionDoesIsSaidBefore: the confirmation names the final snapshot of a database, and does not claim that
// resources are deleted which stay in AWS.
func TestWhatADeletionDoesIsSaidBefore(t *testing.T) {
	const databases = "/namespaces/payments/rdsinstances"
	for name, c := range map[string]struct{ spec, says, hides string }{
		"a final snapshot":   {`{"deletionPolicy": "Delete"}`, "The snapshot's name is payments-ledger-1a2b-final-0f1e2d3c.", ""},
		"a chosen name":      {`{"deletionPolicy": "Delete", "finalSnapshotIdentifier": "farewell"}`, "The snapshot's name is farewell.", ""},
		"no snapshot":        {`{"deletionPolicy": "Delete", "skipFinalSnapshot": true}`, "This cannot be undone.", "The snapshot's name"},
		"it stays":           {`{"deletionPolicy": "Retain"}`, "what it stands for in AWS stays.", "will be deleted"},
		"it is let go":       {`{"deletionPolicy": "Orphan"}`, "stays, without Portico's tags.", "will be deleted"},
		"it is stopped":      {`{"deletionPolicy": "Stop"}`, "is stopped and stays.", "will be deleted"},
		"it is only watched": {`{"deletionPolicy": "Delete", "managementPolicy": "Observe"}`, "nothing changes in AWS.", "will be deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t)
			ledger := `{"apiVersion": "portico.dev/v1alpha1", "kind": "RDSInstance",
				"metadata": {"name": "ledger", "namespace": "payments", "uid": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "generation": 1},
				"spec": ` + c.spec + `, "status": {"dbInstanceIdentifier": "payments-ledger-1a2b"}}`
			p.on("GET "+databases+"/ledger", 200, ledger, "ETag", etag)
			p.on("DELETE "+databases+"/ledger?confirm=ledger&dryRun=All", 202, ledger)
			said, _ := newTerminal(t, p.url).run(0, "delete", "rds", "ledger", "--dry-run")
			if !strings.Contains(said, c.says) || c.hides != "" && strings.Contains(said, c.hides) {
				t.Errorf("says %q, want %q and not %q", said, c.says, c.hides)
			}
		})
	}
}

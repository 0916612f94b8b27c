package main

import (
	"strings"
	"testing"
)

const leftOfPayments = "/namespaces/payments/deleted"

func TestWhatIsLeftOfDeletedResourcesIsListed(t *testing.T) {
	const all = `{"problems": ["AWS account dev, region eu-west-1: denied"], "pending": false, "items": [
		{"kind": "RDSInstance", "name": "ledger", "id": "ledger-final-1", "arn": "a", "facts": "postgres 16.3, 40 GiB", "provider": "aws", "account": "1", "region": "eu-west-1",
			"snapshot": true, "nameInUse": true, "spec": {"restoreFrom.snapshotIdentifier": "ledger-final-1", "engine": "postgres"}, "choose": ["dbInstanceClass"]},
		{"kind": "S3Bucket", "name": "reports", "id": "payments-reports", "arn": "b", "provider": "aws", "account": "1", "region": "us-east-1", "snapshot": false, "nameInUse": false, "spec": {"bucketName": "payments-reports"}},
		{"kind": "S3Bucket", "name": "twice", "id": "it's", "arn": "c", "provider": "aws", "account": "1", "region": "us-east-1", "snapshot": false, "nameInUse": true, "spec": {}}]}`
	p := newPortal(t)
	p.on("GET "+leftOfPayments, 200, `{"items": [], "problems": [], "pending": true}`)
	p.then("GET "+leftOfPayments, 200, all)
	out, said := newTerminal(t, p.url).run(0, "deleted", "-n", "payments")
	for _, want := range []string{"RDSInstance   ledger    snapshot   ledger-final-1     aws       eu-west-1   " +
		"postgres 16.3, 40 GiB\n", "S3Bucket      reports   kept "} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	for _, want := range []string{
		"Not complete: AWS account dev, region eu-west-1: denied\n",
		"portico request rdsinstance ledger-restored -n payments --set providerRef=aws --set region=eu-west-1 --set " +
			"engine=postgres --set restoreFrom.snapshotIdentifier=ledger-final-1 --set dbInstanceClass=VALUE\n",
		"portico request s3bucket reports -n payments --set providerRef=aws --set region=us-east-1 --set " +
			"bucketName=payments-reports --set deletionPolicy=Retain\n",
		"# S3Bucket twice exists again: delete that one first to manage it's again\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nlacks %s", said, want)
		}
	}
	if out, _ := newTerminal(t, p.url).run(0, "deleted", "-n", "payments", "-o", "json"); !strings.Contains(
		out, `"nameInUse": true`) {
		t.Error(out)
	}
}

func TestNothingLeftOfDeletedResources(t *testing.T) {
	for name, c := range map[string]struct {
		status, code int
		body         string
		says         string
	}{
		"nothing":       {200, 0, `{"items": [], "problems": [], "pending": false}`, "AWS has nothing left of deleted resources."},
		"an account":    {200, 0, `{"items": [], "problems": ["AWS account dev: denied"], "pending": false}`, "Not complete: AWS account dev: denied\n"},
		"no access":     {403, 6, `{"detail": "you are not allowed to list s3buckets in namespace payments"}`, "you are not allowed"},
		"nobody to ask": {503, 1, `{"detail": "the operator does not answer now"}`, "does not answer"},
	} {
		p := newPortal(t)
		p.on("GET "+leftOfPayments, c.status, c.body)
		out, said := newTerminal(t, p.url).run(c.code, "deleted", "-n", "payments")
		if out != "" || !strings.Contains(said, c.says) {
			t.Errorf("%s: output %q, want none; says %q, want %q in it", name, out, said, c.says)
		}
		if name == "an account" && strings.Contains(said, "nothing left") {
			t.Errorf("%s: says %q, want no claim that nothing is left", name, said)
		}
	}
}

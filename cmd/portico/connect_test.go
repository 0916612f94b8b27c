package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	databases = "/namespaces/payments/rdsinstances"
	queues    = "/namespaces/payments/sqsqueues"
	noSuch    = `{"status": 404, "detail": "there is none"}`
	thePass   = `{"password": "p4ss\"word\\", "username": "owner", "host": "db.example", "port": "5432", "database": "ledger", "type": "postgresql"}`
)

// ran is the program that was started, with the content and the mode of the option file that it got.
type ran struct {
	path      string
	args, env []string
	file      string
	mode      os.FileMode
}

// instance returns a database of an engine.
func instance(engine, endpoint string, public bool) string {
	return fmt.Sprintf(`{"apiVersion": "portico.dev/v1alpha1", "kind": "RDSInstance", "metadata": {"name": "db", "namespace": "payments", "uid": "u", "generation": 1},
		"spec": {"engine": %q, "masterUsername": "owner", "dbName": "ledger", "publiclyAccessible": %v}, "status": {"endpoint": %q, "port": 5432, "region": "eu-west-1"}}`,
		engine, public, endpoint)
}

// desk returns a terminal with every client program, which can reach every address.
func desk(t *testing.T, p *fake) (*terminal, *ran) {
	t.Helper()
	r := &ran{}
	term := newTerminal(t, p.url)
	term.find = func(program string) (string, error) { return "/usr/bin/" + program, nil }
	term.dials = func(context.Context, string) error { return nil }
	term.start = func(_ context.Context, path string, args, env []string) error {
		r.path, r.args, r.env = path, slices.Clone(args), slices.Clone(env)
		if file, ok := strings.CutPrefix(args[0], "--defaults-file="); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			info, _ := os.Stat(file)
			r.file, r.mode = string(text), info.Mode().Perm()
		}
		return nil
	}
	return term, r
}

// alone makes db the name of a database and of no other object.
func (f *fake) alone(database string) {
	f.on("GET "+databases+"/db", 200, database, "ETag", etag)
	for _, plural := range []string{"sqsqueues", "s3buckets", "snstopics", "ec2instances", "webapps"} {
		f.on("GET /namespaces/payments/"+plural+"/db", 404, noSuch)
	}
}

func TestPsqlIsStartedWithThePasswordInItsEnvironment(t *testing.T) {
	p := newPortal(t)
	p.alone(instance("postgres", "db.example", false))
	p.on("POST "+databases+"/db/reveal", 200, thePass)
	term, r := desk(t, p)
	out, said := term.run(0, "connect", "db")
	if r.path != "/usr/bin/psql" ||
		!slices.Equal(r.args, []string{"--host=db.example", "--port=5432", "--username=owner", "--dbname=ledger"}) ||
		!slices.Equal(r.env, []string{`PGPASSWORD=p4ss"word\`, "PGSSLMODE=require"}) {
		t.Errorf("started %+v", r)
	}
	if strings.Contains(out+said, "p4ss") || !strings.Contains(said, "Connecting to db.example:5432 as owner.") {
		t.Errorf("says %s%s", out, said)
	}
}

func TestMysqlReadsThePasswordFromAFileOfItsOwn(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+databases+"/db", 200, instance("mysql", "db.example", false), "ETag", etag)
	p.on("POST "+databases+"/db/reveal", 200, thePass)
	term, r := desk(t, p)
	out, said := term.run(0, "connect", "database/db", "--address", "127.0.0.1:3307")
	if r.path != "/usr/bin/mysql" ||
		!slices.Equal(r.args[1:], []string{
			"--host=127.0.0.1", "--port=3307", "--user=owner", "--protocol=TCP",
			"--database=ledger",
		}) || len(r.env) > 0 {
		t.Errorf("started %+v", r)
	}
	if r.file != "[client]\npassword=\"p4ss\\\"word\\\\\"\n" || r.mode != 0o600 ||
		strings.Contains(strings.Join(r.args, " ")+out+said, "p4ss") {
		t.Errorf("the file %q has the mode %o", r.file, r.mode)
	}
	if _, err := os.Stat(strings.TrimPrefix(r.args[0], "--defaults-file=")); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
}

// TestNobodyIsShownAPasswordInVain checks that problems are reported before a password is requested.
func TestNobodyIsShownAPasswordInVain(t *testing.T) {
	refused := errors.New("i/o timeout")
	for _, c := range []struct {
		name, engine, endpoint string
		public                 bool
		args                   []string
		change                 func(*terminal)
		code                   int
		says                   []string
	}{
		{"no way", "postgres", "db.example", false, nil, func(d *terminal) {
			d.dials = func(context.Context, string) error { return refused }
		}, 1, []string{
			"cannot be reached from here at db.example:5432: i/o timeout", "It is private",
			"ssh -L 5432:db.example:5432 BASTION", "--address 127.0.0.1:5432",
		}},
		{"no way to a public one", "postgres", "db.example", true, nil, func(d *terminal) {
			d.dials = func(context.Context, string) error { return refused }
		}, 1, []string{
			"db.example:5432", "publicly accessible", "allow port 5432",
		}},
		{"no tunnel", "postgres", "db.example", false, []string{"--address", "127.0.0.1:6000"}, func(d *terminal) {
			d.dials = func(context.Context, string) error { return refused }
		}, 1, []string{
			"nothing answers at 127.0.0.1:6000", "ssh -L 6000:db.example:5432 BASTION",
		}},
		{"a name of this machine", "postgres", "db.portico.localhost", false, nil, func(d *terminal) {
			d.dials = func(context.Context, string) error { return refused }
		}, 1, []string{"nothing answers at 127.0.0.1:5432"}},
		{"no psql", "postgres", "db.example", false, nil, func(d *terminal) {
			d.find = func(string) (string, error) { return "", errors.New("no") }
		}, 1, []string{
			"psql is not installed here", "apt install postgresql-client",
		}},
		{"no mysql", "mariadb", "db.example", false, nil, func(d *terminal) { d.find = func(string) (string, error) { return "", errors.New("no") } }, 1, []string{"mysql is not installed here"}},
		{"another engine", "sqlserver-ex", "db.example", false, nil, func(*terminal) {}, 1, []string{
			"no client known here for sqlserver-ex", "host db.example, port 5432, user owner", "--show-password",
		}},
		{"no address yet", "postgres", "", false, nil, func(*terminal) {}, 1, []string{"has no address yet", "portico wait database db"}},
		{"a bad address", "postgres", "db.example", false, []string{"--address", "nowhere"}, func(*terminal) {}, 2, []string{"--address nowhere: want host:port"}},
		{"a port that is none", "postgres", "db.example", false, []string{"--address", "a:0"}, func(*terminal) {}, 2, []string{"--address a:0: want host:port"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.alone(instance(c.engine, c.endpoint, c.public))
			term, r := desk(t, p)
			c.change(term)
			_, said := term.run(c.code, append([]string{"connect", "db"}, c.args...)...)
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("says %s, without %q", said, want)
				}
			}
			if r.path != "" || p.times("POST "+databases+"/db/reveal") > 0 {
				t.Errorf("started %+v, asked %v", r, p.asked)
			}
		})
	}
}

func TestConnectingCanBeRefused(t *testing.T) {
	p := newPortal(t)
	p.alone(instance("postgres", "db.example", false))
	p.on("POST "+databases+"/db/reveal", 403,
		`{"status": 403, "detail": "you are not allowed to get secrets in namespace payments"}`)
	term, r := desk(t, p)
	if _, said := term.run(6, "connect", "db"); !strings.Contains(said, "you are not allowed to get secrets") ||
		r.path != "" {
		t.Errorf("said %q, started %+v", said, r)
	}
	p.on("POST "+databases+"/db/reveal", 200, thePass)
	term.start = func(context.Context, string, []string, []string) error { return errors.New("exit status 2") }
	if _, said := term.run(1, "connect", "db"); !strings.Contains(said, "psql ended with an error: exit status 2") {
		t.Errorf("said %q", said)
	}
}

func TestWhatConnectPrints(t *testing.T) {
	p := newPortal(t)
	p.alone(instance("postgres", "db.example", false))
	p.on("POST "+databases+"/db/reveal", 200, thePass)
	term, r := desk(t, p)
	if out, _ := term.run(0, "connect", "db", "--print"); out != "psql --host=db.example --port=5432 "+
		"--username=owner --dbname=ledger\n" || p.times("POST "+databases+"/db/reveal") > 0 {
		t.Errorf("prints %q", out)
	}
	if out, said := term.run(0, "connect", "db", "--show-password"); out != "p4ss\"word\\\n" || said != "" ||
		r.path != "" {
		t.Errorf("shows %q and says %q", out, said)
	}
	term.run(2, "connect", "db", "--print", "--show-password")
	p.on("GET "+queues+"/jobs", 200,
		`{"kind": "SQSQueue", "metadata": {"name": "jobs", "namespace": "payments"}, "status": {"queueURL": "https://sqs.example/1/jobs", "region": "eu-west-1"}}`, "ETag", etag)
	if out, said := term.run(0, "connect", "queue", "jobs"); out != "https://sqs.example/1/jobs\n" ||
		!strings.Contains(said, "aws sqs receive-message --queue-url https://sqs.example/1/jobs --region eu-west-1") {
		t.Errorf("prints %q, says %q", out, said)
	}
	term.run(2, "connect", "queue", "jobs", "--address", "a:1")
	p.on("GET "+queues+"/jobs", 200, `{"kind": "SQSQueue", "metadata": {"name": "jobs", "namespace": "payments"}}`,
		"ETag", etag)
	if _, said := term.run(1, "connect", "queue/jobs"); !strings.Contains(said, "has no address yet") {
		t.Errorf("says %q", said)
	}
	if _, said := term.run(2, "connect", "accessbinding/shop"); !strings.Contains(said, "nothing to connect to") {
		t.Errorf("says %q", said)
	}
	p.on("GET "+databases+"/shop", 404, noSuch)
	for _, plural := range []string{"sqsqueues", "s3buckets", "snstopics", "ec2instances"} {
		p.on("GET /namespaces/payments/"+plural+"/shop", 404, noSuch)
	}
	p.on("GET /namespaces/payments/webapps/shop", 200,
		`{"kind": "WebApp", "metadata": {"name": "shop", "namespace": "payments"}, "status": {"url": "https://shop.example.com"}}`, "ETag", etag)
	if out, said := term.run(0, "connect", "shop"); out != "https://shop.example.com\n" || said != "" {
		t.Errorf("prints %q, says %q", out, said)
	}
}

// TestADatabaseUserIsConnectedAs: with its own name, and not the master user's.
func TestADatabaseUserIsConnectedAs(t *testing.T) {
	const users = "/namespaces/payments/databaseusers"
	user := func(name string) string {
		return `{"kind": "DatabaseUser", "metadata": {"name": "reports", "namespace": "payments"}, "spec": {"databaseRef": {"name": "db"}}, "status": {"username": "` + name + `", "database": "sales"}}`
	}
	p := newPortal(t)
	p.alone(instance("postgres", "db.example", false))
	p.on("GET "+users+"/reports", 200, user(""), "ETag", etag)
	term, r := desk(t, p)
	if _, said := term.run(1, "connect", "databaseuser/reports", "--print"); !strings.Contains(
		said, "is not in the database yet") || !strings.Contains(said, "portico wait ") {
		t.Errorf("says %q", said)
	}
	p.on("GET "+users+"/reports", 200, user("reports_1"), "ETag", etag)
	if out, _ := term.run(0, "connect", "databaseuser/reports", "--print"); out != "psql --host=db.example "+
		"--port=5432 --username=reports_1 --dbname=sales\n" {
		t.Errorf("prints %q", out)
	}
	p.on("POST "+users+"/reports/reveal", 200, `{"password": "secret", "username": "reports_2", "database": "sales"}`)
	term.run(0, "connect", "databaseuser/reports")
	if !slices.Equal(r.args, []string{"--host=db.example", "--port=5432", "--username=reports_2", "--dbname=sales"}) ||
		!slices.Contains(r.env, "PGPASSWORD=secret") || p.times("POST "+databases+"/db/reveal") > 0 {
		t.Errorf("started %+v, asked %v", r, p.asked)
	}
	p.on("GET "+databases+"/db", 404, noSuch)
	term.run(5, "connect", "databaseuser/reports")
}

func TestANameOfSeveralKindsNeedsOne(t *testing.T) {
	p := newPortal(t)
	p.alone(instance("postgres", "db.example", false))
	p.on("GET "+queues+"/db", 200, `{"kind": "SQSQueue", "metadata": {"name": "db", "namespace": "payments"}}`, "ETag",
		etag)
	term, _ := desk(t, p)
	if _, said := term.run(2, "connect", "db"); !strings.Contains(
		said, "there is a database db and a message queue db: name the kind too") {
		t.Errorf("says %q", said)
	}
	for _, plural := range []string{"rdsinstances", "sqsqueues"} {
		p.on("GET /namespaces/payments/"+plural+"/db", 404, noSuch)
	}
	term.run(5, "connect", "db")
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

// database is a database's address, and the user.
type database struct {
	engine, host, port, user, name string
	at                             string // its own address, even if a tunnel is used
	public, tunnel                 bool
}

// dialTime bounds the connection attempt to a database.
const dialTime = 5 * time.Second

// dbClient is a database client program.
type dbClient struct {
	program string
	install string // how to install it
	// args are the command-line arguments, without the password.
	args func(db database) []string
}

var psql = dbClient{
	program: "psql", install: "It comes with PostgreSQL: apt install postgresql-client, dnf install postgresql, or " +
		"brew install libpq.",
	args: func(db database) []string {
		args := []string{"--host=" + db.host, "--port=" + db.port, "--username=" + db.user}
		if db.name == "" {
			db.name = "postgres"
		}
		return append(args, "--dbname="+db.name)
	},
}

var mysql = dbClient{
	program: "mysql", install: "It comes with MySQL and MariaDB: apt install default-mysql-client, dnf install " +
		"mysql, or brew install mysql-client.",
	args: func(db database) []string {
		args := []string{"--host=" + db.host, "--port=" + db.port, "--user=" + db.user, "--protocol=TCP"}
		if db.name != "" {
			args = append(args, "--database="+db.name)
		}
		return args
	},
}

// client returns the program for the engine; false if none is known.
func (db database) client() (dbClient, bool) {
	switch {
	case strings.Contains(db.engine, "postgres"):
		return psql, true
	case strings.Contains(db.engine, "mysql"), strings.Contains(db.engine, "mariadb"):
		return mysql, true
	}
	return dbClient{}, false
}

// command returns the command line to type, without the password.
func (db database) command() string {
	c, ok := db.client()
	if !ok {
		return fmt.Sprintf("host %s, port %s, user %s, database %s", clean(db.host), clean(db.port), clean(db.user),
			clean(db.name))
	}
	all := []string{c.program}
	for _, arg := range c.args(db) {
		all = append(all, shellWord(arg))
	}
	return clean(strings.Join(all, " "))
}

// startClient connects: it looks for the program and tests the connection before it requests a password.
func (a *app) startClient(ctx context.Context, t target, db database, master bool) error {
	c, ok := db.client()
	if !ok {
		return hinted(fmt.Errorf("there is no client known here for %s: connect with yours to %s", clean(db.engine),
			db.command()),
			"portico connect "+clean(t.name)+" --master --show-password tells the password of that user.")
	}
	path, err := a.find(c.program)
	if err != nil {
		return hinted(fmt.Errorf("%s is not installed here, or not on the PATH", c.program), c.install)
	}
	if err := a.dials(ctx, net.JoinHostPort(db.host, db.port)); err != nil {
		return unreachable(db, err)
	}
	got, err := t.objects().Reveal(ctx, t.name, client.RevealOptions{Master: master})
	if err != nil {
		return err
	}
	if got.ExpiresAt != nil {
		a.sayOwn(got)
	}
	if got.Username != "" {
		db.user = got.Username
	}
	if db.name == "" {
		db.name = got.Database
	}
	return a.startWith(ctx, path, c, db, got.Password)
}

// sayOwn prints as whom the user signs in, and until when.
func (a *app) sayOwn(got *client.Password) {
	a.say("You sign in as %s, who can %s. This user is dropped %s.", clean(got.Username),
		access.DatabaseWords(v1alpha1.BindingAccess(got.Access)), got.ExpiresAt.Local().Format(time.DateTime))
}

// unreachable returns why the database cannot be reached.
func unreachable(db database, cause error) error {
	if db.tunnel {
		return hinted(fmt.Errorf("nothing answers at %s: %w", clean(net.JoinHostPort(db.host, db.port)), cause),
			"Open the tunnel first, such as ssh -L "+clean(db.port+":"+db.at)+" BASTION.")
	}
	why := "It is private: it answers inside its network only. Ask for a VPN into it, or for a bastion and a tunnel: " +
		"ssh -L " + clean(db.port+":"+db.at) +
		" BASTION, and then add --address 127.0.0.1:" + clean(db.port) + "."
	if db.public {
		why = "It is publicly accessible: perhaps its security group does not let your address in. Ask who keeps it " +
			"to allow port " + clean(db.port) + " from where you are."
	}
	return hinted(fmt.Errorf("the database cannot be reached from here at %s: %w", clean(db.at), cause), why)
}

// startWith starts the program, and passes the password in its environment, or in a file that only the user can read.
func (a *app) startWith(ctx context.Context, path string, c dbClient, db database, password string) error {
	args := c.args(db)
	var env []string
	if c.program == psql.program {
		env = append(env, "PGPASSWORD="+password)
		if a.env("PGSSLMODE") == "" { // or psql might send it to a stranger
			env = append(env, "PGSSLMODE=require")
		}
	} else {
		file, err := optionFile(password)
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file) }() // it is in the user's temporary folder
		args = append([]string{"--defaults-file=" + file}, args...)
	}
	a.say("Connecting to %s as %s.", clean(db.at), clean(db.user))
	if err := a.start(ctx, path, args, env); err != nil {
		return fmt.Errorf("%s ended with an error: %w", c.program, err)
	}
	return nil
}

// optionFile writes the password to an option file of mysql.
func optionFile(password string) (string, error) {
	if strings.ContainsAny(password, "\n\r\x00") {
		return "", errors.New("the password has characters that mysql cannot read from a file")
	}
	f, err := os.CreateTemp("", "portico-*.cnf") // mode 0600
	if err != nil {
		return "", fmt.Errorf("writing the password for mysql: %w", err)
	}
	_, err = fmt.Fprintf(f, "[client]\npassword=\"%s\"\n", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(password))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing the password for mysql: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// shellWord quotes a word for a shell where it needs to be.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:@,%", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// dial returns an error if nothing accepts connections at the address.
func dial(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// start runs a program for the user, with additional environment variables. It ignores interrupts, which are for the
// program: psql cancels a query.
func start(ctx context.Context, path string, args, env []string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...) //nolint:gosec // psql or mysql, found on the person's PATH
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	return cmd.Run()
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

type connectFlags struct {
	print, showPassword, master bool
	address                     string
}

func (a *app) connectCommand() *cobra.Command {
	f := connectFlags{}
	cmd := &cobra.Command{
		Use: "connect [KIND] NAME", Short: "Connect to a database with psql or mysql, or say how to reach something",
		Args: words(1, 2),
		Long: `Connect looks up where a database answers, tries whether it can be reached from here, asks for its password, and starts psql or
mysql, which must be installed. You sign in as a user of your own, which reads, and writes if you are an owner of the team; it is created
when you ask, and dropped 24 hours after you asked for it last. The team sees an event that you did. --master signs in as the master
user, which is for owners. The password is passed by the environment or a file that only you can read, never on a command line. Your
token must be five minutes old at most: sign in again with portico login.

Databases answer inside their network, unless they are publicly accessible: with a tunnel, such as ssh -L 5432:HOST:5432 BASTION, give
its end as --address. Of other kinds, connect prints the address, and a command of the AWS CLI to try; of a web app the URL.`,
		Example: `  portico connect shop-db -n payments
  portico connect database/shop-db --address 127.0.0.1:5432
  portico connect shop-db --print
  portico connect queue jobs`,
		ValidArgsFunction: a.completeNamed,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.connect(cmd.Context(), args, f) },
	}
	cmd.Flags().BoolVar(&f.print, "print", false, "print the command, without the password, and do nothing")
	cmd.Flags().BoolVar(&f.showPassword, "show-password", false, "print the password, and do nothing else")
	cmd.Flags().BoolVar(&f.master, "master", false, "sign in as the master user of a database, which is for owners, "+
		"and not as yourself")
	cmd.Flags().StringVar(&f.address, "address", "", "`host:port` to connect to instead of the database's own: the "+
		"end of a tunnel")
	return cmd
}

func (a *app) connect(ctx context.Context, args []string, f connectFlags) error {
	if f.print && f.showPassword {
		return usagef("--print prints the command without the password, --show-password the password: choose one")
	}
	t, obj, err := a.reachable(ctx, args)
	if err != nil {
		return err
	}
	if f.showPassword {
		got, err := t.objects().Reveal(ctx, t.name, client.RevealOptions{Master: f.master})
		if err != nil {
			return err
		}
		if got.ExpiresAt != nil {
			a.sayOwn(got)
		}
		_, err = fmt.Fprintln(a.out, got.Password)
		return err
	}
	var db database
	switch t.kind.Name {
	case v1alpha1.KindRDSInstance:
		db, err = databaseOf(obj, f.address)
	case v1alpha1.KindDatabaseUser:
		db, err = a.databaseAs(ctx, t, obj, f.address)
	default:
		if f.address != "" {
			return usagef("--address is for databases")
		}
		return a.sayHow(t, obj)
	}
	if err != nil {
		return err
	}
	if f.print {
		return a.printCommand(t, db)
	}
	return a.startClient(ctx, t, db, f.master)
}

// printCommand prints the command to type. The name of the caller's own database user is not known before it is
// requested.
func (a *app) printCommand(t target, db database) error {
	if t.kind.ID() == v1alpha1.KindRDSInstance {
		a.say("This is the master user. portico connect %s --master --show-password shows its password. Without "+
			"--print you sign in as yourself.", clean(t.name))
	}
	_, err := fmt.Fprintln(a.out, db.command())
	return err
}

// databaseAs returns how to connect to a database as a user.
func (a *app) databaseAs(ctx context.Context, t target, user *object, address string) (database, error) {
	of, err := a.target(ctx, []string{v1alpha1.KindRDSInstance, catalog.TextAt(user, "spec", "databaseRef", "name")})
	if err != nil {
		return database{}, err
	}
	of.namespace = t.namespace
	got, err := of.current(ctx)
	if err != nil {
		return database{}, err
	}
	db, err := databaseOf(&got.Object, address)
	if err != nil {
		return db, err
	}
	db.user, db.name = catalog.TextAt(user, "status", "username"),
		cmp.Or(catalog.TextAt(user, "status", "database"), db.name)
	if db.user == "" {
		return db, hinted(fmt.Errorf("%s is not in the database yet", clean(refOf(t.kind, t.name))),
			"Wait for it with portico wait "+clean(refOf(t.kind, t.name))+".")
	}
	return db, nil
}

// connectable are the kinds with an address to connect to, in the order in which a bare name is looked up.
var connectable = []string{
	v1alpha1.KindRDSInstance, v1alpha1.KindSQSQueue, v1alpha1.KindS3Bucket,
	v1alpha1.KindSNSTopic, v1alpha1.KindEC2Instance,
}

// reachable returns the object in the arguments; the kind can be left out.
func (a *app) reachable(ctx context.Context, args []string) (target, *object, error) {
	if args = slashed(args); len(args) == 2 {
		t, err := a.target(ctx, args)
		if err != nil {
			return t, nil, err
		}
		if !t.kind.Tells("binding") && !t.kind.Tells("url") {
			return t, nil, usagef("there is nothing to connect to with %s", spoken.A(refOf(t.kind, t.name)))
		}
		return t.found(ctx)
	}
	t, obj, err := a.named(ctx, args[0], connectable)
	if client.StatusOf(err) != http.StatusNotFound {
		return t, obj, err
	}
	// An application is often named like its database, which comes first.
	app, of, none := a.named(ctx, args[0], []string{v1alpha1.KindWebApp})
	if none != nil {
		return t, obj, err
	}
	return app, of, nil
}

// sayHow prints the address of an object that is no database, and a command to try.
func (a *app) sayHow(t target, obj *object) error {
	status := func(field string) string { return catalog.TextAt(obj, "status", field) }
	address, command := status("arn"), ""
	switch t.kind.Name {
	case v1alpha1.KindSQSQueue:
		address, command = status("queueURL"), "aws sqs receive-message --queue-url "+shellWord(status("queueURL"))
	case v1alpha1.KindS3Bucket:
		command = "aws s3 ls " + shellWord("s3://"+status("bucketName"))
	case v1alpha1.KindSNSTopic:
		command = "aws sns publish --message hello --topic-arn " + shellWord(address)
	case v1alpha1.KindWebApp:
		address = status("url")
	case v1alpha1.KindEC2Instance:
		command = "aws ssm start-session --target " + shellWord(status("instanceID"))
	}
	if address == "" {
		return hinted(fmt.Errorf("%s%s has no address yet", refOf(t.kind, t.name), inWords(t.namespace)),
			"Wait for it with portico wait "+refOf(t.kind, t.name)+".")
	}
	if _, err := fmt.Fprintln(a.out, clean(address)); err != nil || command == "" {
		return err
	}
	if region := status("region"); region != "" {
		command += " --region " + shellWord(region)
	}
	a.say("Try, with credentials of your own for AWS:\n  %s", clean(command))
	return nil
}

// databaseOf returns how to connect to a database: at its own address, or at another one.
func databaseOf(obj *object, address string) (database, error) {
	db := database{
		engine: catalog.TextAt(obj, "spec", "engine"), host: catalog.TextAt(obj, "status", "endpoint"),
		user: catalog.TextAt(obj, "spec", "masterUsername"), name: catalog.TextAt(obj, "spec", "dbName"),
	}
	db.public, _, _ = unstructured.NestedBool(obj.Object, "spec", "publiclyAccessible")
	port, _, _ := unstructured.NestedInt64(obj.Object, "status", "port")
	db.port = strconv.FormatInt(port, 10)
	if db.host == "" || port == 0 {
		name := obj.GetName()
		return db, hinted(fmt.Errorf("database %s has no address yet", clean(name)),
			"Wait for it with portico wait database "+clean(name)+".")
	}
	db.at = net.JoinHostPort(db.host, db.port)
	// RFC 6761 says that this is loopback, and not every resolver does.
	if address == "" && strings.HasSuffix(db.host, ".localhost") {
		address = net.JoinHostPort("127.0.0.1", db.port)
	}
	if address == "" {
		return db, nil
	}
	host, other, err := net.SplitHostPort(address)
	if number, bad := strconv.ParseUint(other, 10, 16); err != nil || bad != nil || number == 0 || host == "" {
		return db, usagef("--address %s: want host:port, such as 127.0.0.1:5432", address)
	}
	db.host, db.port, db.tunnel = host, other, true
	return db, nil
}

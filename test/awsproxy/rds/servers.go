package rds

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Servers are real database servers behind simulated instances of RDS. An instance is named by its account, region and
// identifier, and a snapshot likewise.
type Servers interface {
	// Serve starts the server of an instance with its master user and database, or changes the user's password. It does
	// nothing for engines that it does not have.
	Serve(ctx context.Context, i Instance) error
	// Address returns the address of an instance; "" leaves it as it is, and so does the port 0.
	Address(instance, engine string) (host string, port int)
	// Remove stops the server of an instance, and deletes its files.
	Remove(instance string)
	// Snapshot copies the data of an instance.
	Snapshot(ctx context.Context, instance, name string) error
	// Restore starts the server of an instance with the data of a snapshot.
	Restore(ctx context.Context, name, instance string) error
	// Forget deletes the data of a snapshot.
	Forget(name string)
}

// Instance is what a client of an instance needs.
type Instance struct{ ID, Engine, Database, Username, Password string }

// LeadDatabases makes the endpoints of instances that are created from now on point to these servers, with the master
// user and password of the calls to RDS; nil ends that.
func (s *Service) LeadDatabases(to Servers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = to
}

// before does what the real servers have to do before moto carries a call out.
func (s *Service) before(ctx context.Context, x *wire.Exchange, id string) error {
	to := s.leading()
	name := x.Form.Get("FinalDBSnapshotIdentifier")
	switch {
	case to == nil:
		return nil
	case x.Call.Operation == "CreateDBSnapshot":
		name = x.Form.Get("DBSnapshotIdentifier")
	case x.Call.Operation != "DeleteDBInstance" || name == "":
		return nil
	}
	return to.Snapshot(ctx, id, instanceKey(x, name))
}

func (s *Service) leading() Servers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers
}

// serve applies a call's changes to the real servers, and returns its reply.
func (s *Service) serve(ctx context.Context, x *wire.Exchange, r *wire.Reply, id string) *wire.Reply {
	to := s.leading()
	if to == nil {
		return r
	}
	var err error
	switch x.Call.Operation {
	case "CreateDBInstance", "ModifyDBInstance":
		if password := x.Form.Get("MasterUserPassword"); password != "" {
			err = to.Serve(ctx, Instance{
				ID: id, Engine: wire.Element(r.Body, "Engine"), Username: wire.Element(r.Body, "MasterUsername"),
				Database: wire.Element(r.Body, "DBName"), Password: password,
			})
		}
	case "RestoreDBInstanceFromDBSnapshot":
		err = to.Restore(ctx, instanceKey(x, x.Form.Get("DBSnapshotIdentifier")), id)
	case "DeleteDBInstance":
		to.Remove(id)
	case "DeleteDBSnapshot":
		to.Forget(instanceKey(x, x.Form.Get("DBSnapshotIdentifier")))
	}
	if err != nil {
		return x.Fail(http.StatusInternalServerError, "InternalFailure", "the real server: "+err.Error())
	}
	return r
}

var addressElement = regexp.MustCompile(`<Address>[^<]*</Address>`)

// lead sets the endpoint of an instance to the address of its real server. The caller holds s.mu.
func (s *Service) lead(x *wire.Exchange, is string) string {
	if s.servers == nil {
		return is
	}
	text := []byte(is)
	id := instanceKey(x, wire.Element(text, "DBInstanceIdentifier"))
	host, port := s.servers.Address(id, wire.Element(text, "Engine"))
	if host == "" {
		return is
	}
	return endpointElement.ReplaceAllStringFunc(is, func(endpoint string) string {
		endpoint = addressElement.ReplaceAllString(endpoint, "<Address>"+host+"</Address>")
		if port == 0 {
			return endpoint
		}
		return portElement.ReplaceAllString(endpoint, fmt.Sprintf("<Port>%d</Port>", port))
	})
}

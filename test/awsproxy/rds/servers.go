package rds

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Servers are real database servers behind simulated instances of RDS.
type Servers interface {
	// Serve creates the instance's master user and database, or changes the user's password.
	Serve(ctx context.Context, i Instance) error
	// Address returns the address of an engine's instances; "" if no real server has the engine.
	Address(engine string) (host string, port int)
}

// Instance is what a client of an instance needs.
type Instance struct{ Engine, Database, Username, Password string }

// LeadDatabases makes the endpoints of instances point to these servers, with the master user and password of the
// calls to RDS; nil ends that.
func (s *Service) LeadDatabases(to Servers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = to
}

// serve applies a call's changes to the real servers, and returns its reply.
func (s *Service) serve(ctx context.Context, x *wire.Exchange, r *wire.Reply) *wire.Reply {
	s.mu.Lock()
	to := s.servers
	s.mu.Unlock()
	password := x.Form.Get("MasterUserPassword")
	if to == nil || password == "" || x.Call.Operation != "CreateDBInstance" && x.Call.Operation != "ModifyDBInstance" {
		return r
	}
	i := Instance{
		Engine: wire.Element(r.Body, "Engine"), Username: wire.Element(r.Body, "MasterUsername"),
		Database: wire.Element(r.Body, "DBName"), Password: password,
	}
	if host, _ := to.Address(i.Engine); host == "" {
		return r
	}
	if err := to.Serve(ctx, i); err != nil {
		return x.Fail(http.StatusInternalServerError, "InternalFailure", "the real server: "+err.Error())
	}
	return r
}

var addressElement = regexp.MustCompile(`<Address>[^<]*</Address>`)

// lead sets the endpoint of an instance to the address of a real server. The caller holds s.mu.
func (s *Service) lead(is string) string {
	if s.servers == nil {
		return is
	}
	host, port := s.servers.Address(wire.Element([]byte(is), "Engine"))
	if host == "" {
		return is
	}
	return endpointElement.ReplaceAllStringFunc(is, func(endpoint string) string {
		endpoint = addressElement.ReplaceAllString(endpoint, "<Address>"+host+"</Address>")
		return portElement.ReplaceAllString(endpoint, fmt.Sprintf("<Port>%d</Port>", port))
	})
}

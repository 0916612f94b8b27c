package awsproxy

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
)

// DatabaseServers are real database servers behind simulated instances of RDS.
type DatabaseServers interface {
	// Serve creates the instance's master user and database, or changes the user's password.
	Serve(ctx context.Context, i DatabaseInstance) error
	// Address returns the address of an engine's instances; "" if no real server has the engine.
	Address(engine string) (host string, port int)
}

// DatabaseInstance is what a client of an instance needs.
type DatabaseInstance struct{ Engine, Database, Username, Password string }

// LeadDatabases makes the endpoints of instances point to these servers, with the master user and password of the
// calls to RDS; nil ends that.
func (s *rdsService) LeadDatabases(to DatabaseServers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = to
}

// serve applies a call's changes to the real servers, and returns its reply.
func (s *rdsService) serve(ctx context.Context, x *exchange, r *reply) *reply {
	s.mu.Lock()
	to := s.servers
	s.mu.Unlock()
	password := x.form.Get("MasterUserPassword")
	if to == nil || password == "" || x.call.Operation != "CreateDBInstance" && x.call.Operation != "ModifyDBInstance" {
		return r
	}
	i := DatabaseInstance{
		Engine: element(r.body, "Engine"), Username: element(r.body, "MasterUsername"),
		Database: element(r.body, "DBName"), Password: password,
	}
	if host, _ := to.Address(i.Engine); host == "" {
		return r
	}
	if err := to.Serve(ctx, i); err != nil {
		return x.fail(http.StatusInternalServerError, "InternalFailure", "the real server: "+err.Error())
	}
	return r
}

var addressElement = regexp.MustCompile(`<Address>[^<]*</Address>`)

// lead sets the endpoint of an instance to the address of a real server. The caller holds s.mu.
func (s *rdsService) lead(is string) string {
	if s.servers == nil {
		return is
	}
	host, port := s.servers.Address(element([]byte(is), "Engine"))
	if host == "" {
		return is
	}
	return endpointElement.ReplaceAllStringFunc(is, func(endpoint string) string {
		endpoint = addressElement.ReplaceAllString(endpoint, "<Address>"+host+"</Address>")
		return portElement.ReplaceAllString(endpoint, fmt.Sprintf("<Port>%d</Port>", port))
	})
}

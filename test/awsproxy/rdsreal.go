package awsproxy

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
)

// DatabaseServers are real servers that simulated instances of RDS lead to.
type DatabaseServers interface {
	// Serve makes the instance's master user and database, or gives the user another password.
	Serve(ctx context.Context, i DatabaseInstance) error
	// Address returns where instances of an engine answer; "" of one that nothing real serves.
	Address(engine string) (host string, port int)
}

// DatabaseInstance is what an instance's clients have to know.
type DatabaseInstance struct{ Engine, Database, Username, Password string }

// LeadDatabases has instances answer at these servers, with the master user and password that RDS was told; nil:
// nowhere again.
func (p *Proxy) LeadDatabases(to DatabaseServers) {
	p.databases.mu.Lock()
	defer p.databases.mu.Unlock()
	p.databases.servers = to
}

// serve tells the real servers what a call has changed, and returns its reply.
func (s *rdsService) serve(ctx context.Context, x *exchange, r *reply) *reply {
	s.mu.Lock()
	to := s.servers
	s.mu.Unlock()
	password := x.form.Get("MasterUserPassword")
	if to == nil || password == "" || x.call.Operation != "CreateDBInstance" && x.call.Operation != "ModifyDBInstance" {
		return r
	}
	i := DatabaseInstance{Engine: element(r.body, "Engine"), Username: element(r.body, "MasterUsername"), Database: element(r.body, "DBName"), Password: password}
	if host, _ := to.Address(i.Engine); host == "" {
		return r
	}
	if err := to.Serve(ctx, i); err != nil {
		return x.fail(http.StatusInternalServerError, "InternalFailure", "the real server: "+err.Error())
	}
	return r
}

var addressElement = regexp.MustCompile(`<Address>[^<]*</Address>`)

// lead puts the address of a real server into the endpoint of an instance. The caller holds s.mu.
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

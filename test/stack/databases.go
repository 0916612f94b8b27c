package stack

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/databases"
)

// startDatabases puts a server behind each RDS instance whose engine is installed on this machine.
func (s *Stack) startDatabases() error {
	if !s.opts.Parts.has(Databases) || s.Proxy == nil {
		return nil
	}
	place := databases.Loopback()
	if s.opts.RealNodes > 0 {
		place = databases.Place{Host: DatabaseHost, IP: gatewayIP, Ports: s.opts.Ports.Databases}
	}
	fleet, err := databases.StartFleetAt(place)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.stops = append(s.stops, fleet.Stop)
	s.mu.Unlock()
	authority, err := os.ReadFile(fleet.CAFile)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.DatabaseCAFile(), authority, 0o644); err != nil {
		return err
	}
	for _, engine := range []string{"postgres", "mariadb"} {
		if err := databases.Missing(engine); err != nil {
			s.say("%-24s databases of this engine answer nobody: %v", engine, err)
		}
	}
	s.Proxy.LeadDatabases(explained{fleet})
	return nil
}

// explained gives instances without a server a name that says why nobody answers: it is in the sentence that a user
// gets who connects.
type explained struct{ *databases.Fleet }

// Address implements awsproxy.DatabaseServers.
func (e explained) Address(instance, engine string) (host string, port int) {
	if host, port = e.Fleet.Address(instance, engine); host != "" {
		return host, port
	}
	why := "no-server-of-" + engine + "-runs-on-the-local-cluster"
	if databases.Has(engine) && !databases.Installed(engine) {
		why = engine + "-is-not-installed-here-run-make-deps"
	}
	return strings.ToLower(why) + "." + Domain, 0
}

// Serve implements awsproxy.DatabaseServers.
func (e explained) Serve(ctx context.Context, i awsproxy.DatabaseInstance) error {
	if !databases.Installed(i.Engine) {
		return nil
	}
	if err := e.Fleet.Serve(ctx, i); err != nil {
		return fmt.Errorf("start a server of %s: %w", i.Engine, err)
	}
	return nil
}

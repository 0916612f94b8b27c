package rds

import (
	"testing"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

type oneServer struct{ Servers }

func (oneServer) Address(instance, _ string) (host string, port int) {
	switch instance {
	case "1/r/served":
		return "localhost", 15432
	case "1/r/missing":
		return "nobody.localhost", 0
	}
	return "", 0
}

func TestInstancesLeadToTheirServers(t *testing.T) {
	instance := func(id, address, port string) string {
		return "<DBInstance><DBInstanceIdentifier>" + id + "</DBInstanceIdentifier><Engine>postgres</Engine><Endpoint><Address>" +
			address + "</Address><Port>" + port + "</Port></Endpoint></DBInstance>"
	}
	x := &wire.Exchange{Call: wire.Call{Account: "1", Region: "r"}}
	for id, want := range map[string]string{
		"served":  instance("served", "localhost", "15432"),
		"missing": instance("missing", "nobody.localhost", "5432"),
		"other":   instance("other", "a.rds.amazonaws.com", "5432"),
	} {
		before := instance(id, "a.rds.amazonaws.com", "5432")
		if got := (&Service{servers: oneServer{}}).lead(x, before); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
		if got := (&Service{}).lead(x, before); got != before {
			t.Errorf("%s without servers: %s", id, got)
		}
	}
}

package rds

import (
	"context"
	"testing"
)

type oneServer struct{}

func (oneServer) Serve(context.Context, Instance) error { return nil }

func (oneServer) Address(engine string) (host string, port int) {
	if engine == "postgres" {
		return "localhost", 15432
	}
	return "", 0
}

func TestInstancesLeadToServersOfTheirEngine(t *testing.T) {
	const before = "<DBInstance><Engine>postgres</Engine><Endpoint><Address>a.rds.amazonaws.com</Address><Port>5432</Port></Endpoint></DBInstance>"
	s := &Service{}
	if got := s.lead(before); got != before {
		t.Errorf("without servers: %s", got)
	}
	s.servers = oneServer{}
	if got := s.lead(
		before); got != "<DBInstance><Engine>postgres</Engine><Endpoint><Address>localhost</Address><Port>15432</Port></Endpoint></DBInstance>" {
		t.Errorf("with one: %s", got)
	}
	const other = "<DBInstance><Engine>mysql</Engine><Endpoint><Address>a</Address><Port>1</Port></Endpoint></DBInstance>"
	if got := s.lead(other); got != other {
		t.Errorf("of an engine without one: %s", got)
	}
}

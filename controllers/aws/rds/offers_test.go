package rds

import "testing"

func TestParameterGroupsAreOfferedForTheirEngineOnly(t *testing.T) {
	for _, c := range []struct {
		family, engine string
		want           bool
	}{
		{"postgres16", "postgres", true},
		{"mariadb10.11", "mariadb", true},
		{"oracle-ee-19", "oracle-ee", true},
		{"oracle-ee-cdb-19", "oracle-ee", false},
		{"oracle-ee-cdb-19", "oracle-ee-cdb", true},
		{"sqlserver-se-15.0", "sqlserver-se", true},
		{"mysql8.0", "mariadb", false},
		{"mysql8.0", "", true}, // no engine is chosen yet
	} {
		if got := ofEngine(c.family, c.engine); got != c.want {
			t.Errorf("%s for the engine %q: got %v, want %v", c.family, c.engine, got, c.want)
		}
	}
}

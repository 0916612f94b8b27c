package databases

import "testing"

func TestTheNewestPostgreSQLIsTaken(t *testing.T) {
	const want = "/usr/lib/postgresql/15/bin/initdb"
	if got := newest([]string{
		"/usr/lib/postgresql/9.6/bin/initdb", want, "/usr/lib/postgresql/9.4/bin/initdb",
	}); got != want {
		t.Error(got)
	}
}

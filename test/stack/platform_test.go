package stack

import (
	"testing"

	"github.com/portico-platform/portico/test/stack/process"
)

func TestTheTagOfAnImageChoosesTheVersion(t *testing.T) {
	s := &Stack{opts: Options{Root: "/tree", Versions: map[string]string{"old": "/old/bin"}}}
	for image, want := range map[string]string{
		"ghcr.io/portico-platform/portico-operator:v0.1.0": "/tree/bin/operator",
		"ghcr.io/portico-platform/portico-portal:old":      "/old/bin/portal",
		"localhost:5000/portico:old":                       "/old/bin/portico",
		"portico":                                          "/tree/bin/portico",
	} {
		if got, err := s.binary(image); err != nil || got != want {
			t.Errorf("%s runs %s, %v; want %s", image, got, err, want)
		}
	}
	if got, err := s.binary("nginx:old"); err == nil {
		t.Errorf("an image of others runs %s", got)
	}
}

// TestReplicasHaveLogsOfTheirOwn adds two replicas before either runs, and checks that each has its own log, which it
// keeps when it is started again.
func TestReplicasHaveLogsOfTheirOwn(t *testing.T) {
	group, err := process.NewGroup(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Stack{group: group, parts: map[string]*process.Process{}, logs: map[string]*process.Process{}}
	spec := process.Spec{Name: "portal", Path: "/bin/sleep", Args: []string{"60"}}
	one, two := s.add(spec), s.add(spec)
	if one.LogFile() == two.LogFile() {
		t.Errorf("both write to %s", one.LogFile())
	}
	if err := one.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := one.Kill(); err != nil {
		t.Fatal(err)
	}
	if again := s.add(spec); again.LogFile() != one.LogFile() {
		t.Errorf("started again, it writes to %s instead of %s", again.LogFile(), one.LogFile())
	}
}

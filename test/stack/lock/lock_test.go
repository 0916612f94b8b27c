package lock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWhatIsInUseStays, and what nobody holds any more goes.
func TestWhatIsInUseStays(t *testing.T) {
	parent := t.TempDir()
	folders := map[string]bool{"used": true, "left": false}
	for name, used := range folders {
		folder := filepath.Join(parent, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		held, err := Claim(folder)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Hold(filepath.Join(folder, File)); !errors.Is(err, ErrHeld) {
			t.Errorf("%s is held twice: %v", name, err)
		}
		if used {
			t.Cleanup(func() { _ = held.Close() })
		} else if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveLeft(filepath.Join(parent, "*"), os.RemoveAll); err != nil {
		t.Fatal(err)
	}
	for name, want := range folders {
		if _, err := os.Stat(filepath.Join(parent, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

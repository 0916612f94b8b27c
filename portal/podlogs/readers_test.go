package podlogs

import (
	"errors"
	"testing"
)

func TestLogsThatOneUserReadsAreBounded(t *testing.T) {
	var l Readers
	var leaves []func()
	for range MaxReads {
		leave, err := l.Enter("alice")
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	var tooMany *TooManyReadsError
	if _, err := l.Enter("alice"); !errors.As(err, &tooMany) {
		t.Errorf("one more: %v", err)
	} else if want := "4 logs are being read for you already, and there can be no more at a time"; err.Error() != want {
		t.Errorf("the user hears %q, want %q", err, want)
	}
	if _, err := l.Enter("bob"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	leaves[0]()
	leaves[0]() // closing twice frees one
	if _, err := l.Enter("alice"); err != nil {
		t.Errorf("after one ended: %v", err)
	}
	if _, err := l.Enter("alice"); !errors.As(err, &tooMany) {
		t.Errorf("after one ended, two more: %v", err)
	}
}

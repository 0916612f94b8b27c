package backup

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Just after an installation the API server knows a kind, and its admission does not: it answers 503.
func TestWhatTheAPIServerCannotDoYetIsRepeated(t *testing.T) {
	notYet, refused := apierrors.NewServiceUnavailable("There can be a delay"), errors.New("refused")
	for name, c := range map[string]struct {
		answers []error // the last one again and again
		tries   int
		want    error
	}{
		"at once":       {[]error{nil}, 1, nil},
		"after a while": {[]error{notYet, notYet, nil}, 3, nil},
		"refused":       {[]error{refused}, 1, refused},
		"refused later": {[]error{notYet, refused}, 2, refused},
		"never":         {[]error{notYet}, 30, notYet},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			err := patient(func(context.Context) error {
				tries++
				return c.answers[min(tries, len(c.answers))-1]
			})(t.Context())
			if !errors.Is(err, c.want) || tries < c.tries || tries > c.tries+1 {
				t.Errorf("%s: %v after %d tries", name, err, tries)
			}
		})
	}
}

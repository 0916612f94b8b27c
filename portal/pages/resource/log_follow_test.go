package resource

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

func TestAnErrorsTextStaysOffThePage(t *testing.T) {
	if fields := slices.Collect(strings.FieldsSeq(endWords(errors.New("s3cret line")))); slices.Contains(
		fields, "s3cret") {
		t.Errorf("an error's text reaches the page: %v", fields)
	}
}

func TestWhyALogIsRefusedIsSaid(t *testing.T) {
	for want, cause := range map[string]error{
		"The Pod is no more.": page.ErrNoPod, "There is no log: Pod x has ended": &page.NoLogError{
			Words: "There is no log: Pod x has ended.", Never: true,
		},
		"pods/log": &failure.ForbiddenError{
			Verb: "get", Resource: "pods/log", Namespace: "payments",
		},
		"Kubernetes does not give the log": &failure.UnavailableError{Doing: "reading", Cause: errors.New("s3cret")},
	} {
		if got := endWords(&podlogs.NoLogError{Cause: cause}); !strings.Contains(got, want) ||
			strings.Contains(got, "lost") || strings.Contains(got, "s3cret") {
			t.Errorf("%v: %s", cause, got)
		}
	}
}

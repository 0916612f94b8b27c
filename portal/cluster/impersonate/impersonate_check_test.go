package impersonate

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestWhatNobodysWriteTells(t *testing.T) {
	w, _, _ := newTestImpersonator(t)
	buckets := schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}
	through := func(err error) error { return &url.Error{Op: "Post", URL: "https://kubernetes", Err: err} }
	for name, c := range map[string]struct {
		answer error
		says   string // "": the impersonation works
		fails  bool
	}{
		"refused as nobody":         {apierrors.NewForbidden(buckets, "", fmt.Errorf(`User %q cannot create resource "s3buckets"`, nobody)), "", false},
		"let in":                    {nil, "", false},
		"let in, and wrong":         {apierrors.NewInvalid(schema.GroupKind{}, "", nil), "", false},
		"refused as who acts":       {apierrors.NewForbidden(buckets, "", fmt.Errorf(`User %q cannot impersonate-on:user-info:create`, w.username)), "has no right to act as users", false},
		"a token that is not taken": {apierrors.NewUnauthorized("no"), "has no right to act as users", false},
		"no token":                  {through(&mintError{kubetest.Account, errors.New("forbidden"), true}), "gives the portal no token", false},
		"a mint that is away":       {through(&mintError{kubetest.Account, errors.New("timeout"), false}), "", true},
		"a server that is away":     {through(errors.New("connection refused")), "", true},
		"a server in trouble":       {apierrors.NewInternalError(errors.New("etcd")), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := w.problemsOf(c.answer)
			if (err != nil) != c.fails || (len(problems) > 0) != (c.says != "") {
				t.Fatalf("problemsOf() = %v, %v, want %q, an error: %v", problems, err, c.says, c.fails)
			}
			if c.says != "" && problems[0].Says != c.says {
				t.Errorf("problem = %q, want %q", problems[0].Says, c.says)
			}
		})
	}
}

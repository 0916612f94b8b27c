package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/client"
)

// named returns the object of that name among some kinds. Kinds that the caller cannot read are skipped; if nothing is
// found, the error names them.
func (a *app) named(ctx context.Context, name string, kinds []string) (t target, obj *object, err error) {
	c, err := a.api()
	if err != nil {
		return t, nil, err
	}
	if a.namespace, err = a.inNamespace(ctx, c); err != nil { // once for all kinds
		return t, nil, err
	}
	var missing error
	var forbidden []string
	for _, kind := range kinds {
		k, err := a.outline(ctx, kind)
		if err != nil {
			return t, nil, err
		}
		one, err := a.targetNamed(ctx, k, name)
		if err != nil {
			return one, nil, err
		}
		_, got, err := one.found(ctx)
		switch client.StatusOf(err) {
		case http.StatusNotFound:
			missing = err
			continue
		case http.StatusForbidden:
			missing, forbidden = cmp.Or(missing, err), append(forbidden, one.kind.Plural)
			continue
		}
		if err != nil {
			return one, nil, err
		}
		if obj != nil {
			return one, nil, usagef("there is %s and %s: name the kind too, such as %s", spoken.A(refOf(t.kind, name)),
				spoken.A(refOf(one.kind, name)), t.kind.Word()+" "+clean(name))
		}
		t, obj = one, got
	}
	if obj != nil {
		t.kind, err = a.whole(ctx, t.kind)
		return t, obj, err
	}
	return t, nil, nothingNamed(name, forbidden, missing)
}

// nothingNamed returns the error that no object has the name, with the exit code of cause.
func nothingNamed(name string, forbidden []string, cause error) error {
	if client.StatusOf(cause) == http.StatusForbidden {
		return cause
	}
	text := fmt.Sprintf("nothing here is called %s", clean(name))
	if len(forbidden) > 0 {
		text += ", as far as you can look: you have no access to " + andList(forbidden)
	}
	return &nothingError{text: text, cause: cause}
}

// nothingError translates an error of the API for the caller.
type nothingError struct {
	text  string
	cause error
}

func (e *nothingError) Error() string { return e.text }

func (e *nothingError) Unwrap() error { return e.cause }

// completeNamed completes kinds, and names of objects whose kind can be left out.
func (a *app) completeNamed(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || strings.Contains(so, "/") {
		return a.completeObjects(cmd, args, so)
	}
	return append(a.kindWords(cmd, so, false), a.nameWords(cmd, "", so)...), noFiles
}

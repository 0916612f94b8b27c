package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

// completeTime bounds the wait for completions.
const completeTime = 3 * time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeKinds completes kinds.
func (a *app) completeKinds(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return a.kindWords(cmd, so, false), noFiles
}

// kindWords returns the names of the kinds that begin with so: those that were stored last, if the portal does not
// answer.
func (a *app) kindWords(cmd *cobra.Command, so string, requested bool) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	if a.load(ctx) != nil {
		a.offline()
	}
	var words []string
	for _, k := range a.kinds {
		if requested && k.KeptBy != "" {
			continue
		}
		for _, w := range []string{k.Word(), k.Plural} {
			if strings.HasPrefix(w, so) {
				words = append(words, cobra.CompletionWithDesc(w, firstSentence(k.Help)))
				break
			}
		}
	}
	return words
}

// completeObjects completes a kind, and then a name.
func (a *app) completeObjects(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.kindWords(cmd, so, false), noFiles
	case 1:
		return a.nameWords(cmd, args[0], so), noFiles
	}
	return nil, noFiles
}

// completeNewObject completes requestable kinds, and no names, which are new.
func (a *app) completeNewObject(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return a.kindWords(cmd, so, true), noFiles
}

// completeFor completes names of one kind; for kind "" it does what completeObjects does.
func (a *app) completeFor(kind string) cobra.CompletionFunc {
	if kind == "" {
		return a.completeObjects
	}
	return func(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return a.nameWords(cmd, kind, so), noFiles
	}
}

// nameWords returns the names of a kind's objects, or of all that teams request, that begin with so, or nil after any
// error.
func (a *app) nameWords(cmd *cobra.Command, kind, so string) []string {
	var kinds []string
	if kind != "" {
		kinds = []string{kind}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	v, err := a.view(ctx, kinds, getFlags{})
	if err != nil {
		return nil
	}
	list, _, err := v.list(ctx)
	if err != nil {
		return nil
	}
	var words []string
	for _, o := range list {
		if strings.HasPrefix(o.GetName(), so) {
			words = append(words, cobra.CompletionWithDesc(o.GetName(), o.GetNamespace()))
		}
	}
	return words
}

func (a *app) completeNamespaces(cmd *cobra.Command, _ []string, so string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	c, err := a.api()
	if err != nil {
		return nil, noFiles
	}
	me, err := c.GetMe(ctx, client.GetMeOptions{})
	if err != nil {
		return nil, noFiles
	}
	return startingWith(me.Namespaces, so), noFiles
}

// completeFields completes fields for --set, and the values of fields with options.
func (a *app) completeFields(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	k, err := a.kindNamed(ctx, args[0])
	if err != nil {
		return nil, noFiles
	}
	var words []string
	for _, f := range leaves(k.Fields()) {
		path := strings.TrimPrefix(f.Path, "spec.") + "="
		words = append(words, path)
		for _, o := range f.Options {
			words = append(words, path+o)
		}
	}
	if !strings.Contains(so, "=") {
		words = noValues(words)
	}
	return startingWith(words, so), noFiles | cobra.ShellCompDirectiveNoSpace
}

func noValues(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.HasSuffix(w, "=") {
			out = append(out, w)
		}
	}
	return out
}

// leaves returns the fields with a single value, and references, for which a name is enough.
func leaves(fields []catalog.Field) []catalog.Field {
	var out []catalog.Field
	for _, f := range fields {
		if f.Scalar() || f.IsRef() {
			out = append(out, f)
		} else if f.Type == catalog.Object {
			out = append(out, leaves(f.Fields)...)
		}
	}
	return out
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/portico-platform/portico/cmd/portico/prompt"
)

// errNoAnswer means that the input ended before an answer.
var errNoAnswer = errors.New("no answer: nothing was changed")

// line prompts, and returns a typed line. It returns at once on an interrupt.
func (a *app) line(ctx context.Context, question string) (string, error) {
	_, _ = fmt.Fprint(a.err, question)
	if a.lines == nil {
		a.lines = prompt.NewLines(a.in)
	}
	text, err := a.lines.Read(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return "", errNoAnswer
	case err != nil && ctx.Err() == nil:
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return text, err
}

// confirmed asks whether to go on, until the answer is yes or no; no is an error.
func (a *app) confirmed(ctx context.Context) error {
	for {
		typed, err := a.line(ctx, "Type yes to go on: ")
		if err != nil {
			return err
		}
		switch strings.ToLower(typed) {
		case "yes", "y":
			return nil
		case "no", "n", "":
			return errors.New("that is not yes: nothing was changed")
		}
		a.say("Type yes, or no to change nothing.")
	}
}

// question is a question to the user.
type question struct {
	name     string
	help     string
	options  []string // to choose from
	open     bool     // other values are possible too
	standard string   // the value of an empty answer, "" if an answer is needed
	wrong    func(answer string) string
}

// ask repeats the question until the answer is valid.
func (a *app) ask(ctx context.Context, q question) (string, error) {
	_, _ = fmt.Fprintln(a.err)
	if q.help != "" {
		a.say("%s", clean(q.help))
	}
	if len(q.options) > 0 {
		a.say("  %s", clean(strings.Join(q.options, ", ")))
	}
	prompt := q.name
	if q.standard != "" {
		prompt += " [" + q.standard + "]"
	}
	for {
		answer, err := a.line(ctx, clean(prompt)+": ")
		if err != nil {
			return "", err
		}
		answer = cmp.Or(answer, q.standard)
		wrong := q.check(&answer)
		if wrong == "" {
			return answer, nil
		}
		a.say("%s", wrong)
	}
}

// check returns what is wrong with an answer, or "". It corrects the spelling of an option.
func (q question) check(answer *string) string {
	i := slices.IndexFunc(q.options, func(o string) bool { return strings.EqualFold(o, *answer) })
	switch {
	case *answer == "":
		return "Enter a value."
	case i >= 0:
		*answer = q.options[i]
	case len(q.options) > 0 && !q.open:
		return "Choose " + orList(q.options) + "."
	case q.wrong != nil:
		return q.wrong(*answer)
	}
	return ""
}

package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// words limits the number of arguments; the error describes them.
func words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, wanted, _ := strings.Cut(cmd.Use, " ")
		wanted, _, _ = strings.Cut(wanted, " -") // flags are in the help
		switch {
		case most == 0 && len(args) > 0:
			return fmt.Errorf("%s takes no words behind it: leave out %s", cmd.CommandPath(), args[0])
		case len(args) < least:
			return fmt.Errorf("%s needs %s behind it", cmd.CommandPath(), wanted)
		case len(args) > most:
			return fmt.Errorf("%s takes %s only: leave out %s", cmd.CommandPath(), wanted,
				strings.Join(args[most:], " "))
		}
		return nil
	}
}

// hintMark precedes, in an error, the advice that gets its own line.
const hintMark = "\n  "

var unknownCommand = regexp.MustCompile(`^unknown command "(.*)" for `)

// misread rewords cobra's errors about a command line.
func misread(cmd *cobra.Command, err error) error {
	text := err.Error()
	if m := unknownCommand.FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("there is no command %q", m[1])
		if near := cmd.SuggestionsFor(m[1]); len(near) > 0 {
			text += "; did you mean " + orList(near) + "?"
		}
	}
	return usagef("%s%sSee %s --help.", text, hintMark, cmd.CommandPath())
}

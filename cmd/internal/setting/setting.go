// Package setting reads the servers' flags from environment variables, which ConfigMaps and Secrets can set in Pods.
package setting

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

const prefix = "PORTICO_"

// Variable returns the name of the environment variable of a flag: PORTICO_PUBLIC_URL for public-url.
func Variable(flagName string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// Help is the paragraph of a usage text about these variables.
const Help = `Each flag can be given as an environment variable instead: ` +
	prefix + ` and its name in capitals, with _ for -, such as
` + prefix + `KUBECONFIG for --kubeconfig. The command line wins; an empty variable counts for nothing.
`

// Fill sets each flag of a parsed set that is not on the command line from its variable, unless that is empty.
func Fill(set *flag.FlagSet, env func(string) string) error {
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var wrong []error
	set.VisitAll(func(f *flag.Flag) {
		value := env(Variable(f.Name))
		if given[f.Name] || value == "" {
			return
		}
		if err := set.Set(f.Name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s (as --%s): %w", Variable(f.Name), f.Name, err))
		}
	})
	return errors.Join(wrong...)
}

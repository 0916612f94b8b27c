package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
)

// maxValue bounds the values of a Secret, in bytes.
const maxValue = 1 << 20

// secretCommand returns the commands about values of Secrets.
func (a *app) secretCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "secret", Short: "Set values of Secrets, which are never shown", Args: words(0, 0),
		Long: `Secret writes the values that web apps take from Secrets (env and envFrom), and passwords that a spec names. You
cannot read values here: only names, keys and times are listed. Developers and owners of a team have the right to it, to create
and update secretvalues.portico.dev in the namespace, unless the Team says otherwise. It works with Secrets that were created here,
or that have the label portico.dev/secret-values=true.`,
		Example: `  portico secret set shop token -n payments
  portico secret list -n payments`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.setSecretCommand(), a.listSecretsCommand(), a.deleteSecretCommand())
	return cmd
}

func (a *app) setSecretCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set NAME KEY…", Short: "Set values of a Secret, and make it if need be", Args: words(2, 1000),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Set asks for the value of each KEY, without showing it. KEY=@FILE reads it from a file, KEY=- from standard input without the line
break at the end. It does not take values from the command line: other programs can see it, and shells remember it.

Other keys of the Secret stay as they are. All values of a Secret together can have 1 MiB at most.`,
		Example: `  portico secret set shop token -n payments
  portico secret set shop tls.crt=@server.crt tls.key=@server.key -n payments
  vault read -field=token secret/shop | portico secret set shop token=- -n payments`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.setSecret(cmd.Context(), args[0], args[1:]) },
	}
}

func (a *app) setSecret(ctx context.Context, name string, keys []string) error {
	body, err := a.values(keys)
	if err != nil {
		return err
	}
	c, ns, err := a.apiInNamespace(ctx)
	if err != nil {
		return err
	}
	set, err := c.SetSecret(ctx, ns, name, body)
	if err != nil {
		return err
	}
	a.say("Secret %s in %s has %s now.", clean(set.Name), clean(ns), counted(len(set.Keys), "key"))
	for _, use := range set.UsedBy {
		a.say("%s %s %s.", clean(use.Kind), clean(use.Name), clean(use.Effect))
	}
	return nil
}

// secretBody is a change of a Secret in the API's format.
type secretBody struct {
	Values map[string]*string `json:"values,omitempty"` // nil removes
	Base64 map[string]string  `json:"base64,omitempty"` // binary values
}

// values reads the values that the command line names.
func (a *app) values(keys []string) (*secretBody, error) {
	body, size, piped := &secretBody{Values: map[string]*string{}, Base64: map[string]string{}}, 0, false
	for _, word := range keys {
		key, from, given := strings.Cut(word, "=")
		_, text := body.Values[key]
		_, raw := body.Base64[key]
		switch {
		case key == "":
			return nil, usagef("%q names no key", word)
		case text || raw:
			return nil, usagef("the key %s is there twice: leave one out", key)
		case given && from == "-" && piped:
			return nil, usagef("standard input holds one value: take the others from files")
		}
		value, err := a.value(key, from, given)
		if err != nil {
			return nil, err
		}
		piped = piped || from == "-"
		if size += len(value); size > maxValue {
			return nil, usagef("the values are larger than 1 MiB together, which is all that a Secret holds: use " +
				"several Secrets")
		}
		if utf8.Valid(value) {
			body.Values[key] = new(string(value))
		} else {
			body.Base64[key] = base64.StdEncoding.EncodeToString(value)
		}
	}
	return body, nil
}

// value reads one value, from the source on the command line or from the terminal. Its errors never contain the value.
func (a *app) value(key, from string, given bool) ([]byte, error) {
	path, isFile := strings.CutPrefix(from, "@")
	switch {
	case !given && (!a.asks || a.hidden == nil):
		return nil, usagef("nobody can be asked here for the value of %s: use %s=@FILE, or %s=- for standard input",
			key, key, key)
	case !given:
		_, _ = fmt.Fprintf(a.err, "Value of %s (it is not shown): ", clean(key))
		value, err := a.hidden()
		a.say("")
		if err != nil {
			return nil, fmt.Errorf("reading the value of %s: %w", key, err)
		}
		if value == "" {
			return nil, usagef("the value of %s is empty: nothing was set", key)
		}
		return []byte(value), nil
	case from == "-":
		value, err := a.piped(key)
		return value, cmp.Or(err, notEmpty(key, "standard input", value))
	case isFile:
		value, err := os.ReadFile(path) //nolint:gosec // the person named it
		if err != nil {
			return nil, usagef("%s: %v", key, err)
		}
		return value, notEmpty(key, path, value)
	}
	return nil, usagef("the value of %s is on the command line, which other programs see and shells remember: write "+
		"%s to be asked for it, %s=@FILE, or %s=- for standard input. If it has been a real one, choose another", key,
		key, key, key)
}

// notEmpty refuses an empty value from a program or a file, because the replaced value cannot be recovered.
func notEmpty(key, from string, value []byte) error {
	if len(value) == 0 {
		return usagef("%s gives no value for %s: nothing was set, and what is there stays", from, key)
	}
	return nil
}

func (a *app) piped(key string) ([]byte, error) {
	value, err := io.ReadAll(io.LimitReader(a.in, maxValue+3))
	if err != nil {
		return nil, fmt.Errorf("reading the value of %s from standard input: %w", key, err)
	}
	return []byte(strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r")), nil
}

// apiInNamespace returns a client, and the namespace to work in.
func (a *app) apiInNamespace(ctx context.Context) (*client.Client, string, error) {
	c, err := a.api()
	if err != nil {
		return nil, "", err
	}
	ns, err := a.inNamespace(ctx, c)
	return c, ns, err
}

func (a *app) listSecretsCommand() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use: "list", Short: "List Secrets whose values are set here: names, keys and times", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		Example:           "  portico secret list -n payments",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, ns, err := a.apiInNamespace(cmd.Context())
			if err != nil {
				return err
			}
			all, err := c.ListSecrets(cmd.Context(), ns)
			if err != nil {
				return err
			}
			if format != "table" {
				return a.encode(format, all)
			}
			return a.tableOfSecrets(all.Items)
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) tableOfSecrets(all []client.SecretValues) error {
	table := a.table("NAME", "KEY", "SET", "BY", "USED BY")
	for _, s := range all {
		users := make([]string, 0, len(s.UsedBy))
		for _, u := range s.UsedBy {
			users = append(users, u.Kind+"/"+u.Name)
		}
		if len(s.Keys) == 0 {
			table.add(s.Name, "", "", "", strings.Join(users, ", "))
		}
		for _, k := range s.Keys {
			at := ""
			if k.SetAt != nil {
				at = k.SetAt.UTC().Format(time.RFC3339)
			}
			table.add(s.Name, k.Name, at, k.SetBy, strings.Join(users, ", "))
		}
	}
	return table.write()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
)

func (a *app) deleteSecretCommand() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete NAME [KEY…]", Short: "Delete keys of a Secret, or all of it, after asking", Args: words(1, 1000),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `With keys, delete removes those keys only. Without keys, it deletes the Secret. It says what uses the Secret, and asks. You cannot undo
it, and you cannot read the values here first.`,
		Example: "  portico secret delete shop old-token -n payments\n  portico secret delete shop -n payments --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.deleteSecret(cmd.Context(), args[0], args[1:], yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) deleteSecret(ctx context.Context, name string, keys []string, yes bool) error {
	if !yes && !a.asks {
		return usagef("portico cannot ask here whether you mean it: add --yes")
	}
	c, ns, err := a.apiInNamespace(ctx)
	if err != nil {
		return err
	}
	what := "Secret " + clean(name) + " in " + clean(ns)
	if len(keys) > 0 {
		what = andList(keys) + " of " + what
	}
	is, err := knownSecret(ctx, c, ns, name)
	if err = cmp.Or(err, hasKeys(is, keys)); err != nil {
		return err
	}
	if !yes {
		if err := a.saySecretUse(ctx, is, what); err != nil {
			return err
		}
	}
	if err := dropKeys(ctx, c, ns, name, keys); err != nil {
		return err
	}
	a.say("%s: deleted.", what)
	return nil
}

// dropKeys removes keys of a Secret, or without keys the Secret.
func dropKeys(ctx context.Context, c *client.Client, ns, name string, keys []string) (err error) {
	if len(keys) == 0 {
		_, err = c.DeleteSecret(ctx, ns, name, client.DeleteSecretOptions{Confirm: name})
		return err
	}
	body := &secretBody{Values: map[string]*string{}}
	for _, key := range keys {
		body.Values[key] = nil
	}
	_, err = c.SetSecret(ctx, ns, name, body)
	return err
}

// knownSecret returns the list's entry for a Secret, without a name if there is none.
func knownSecret(ctx context.Context, c *client.Client, ns, name string) (client.SecretValues, error) {
	all, err := c.ListSecrets(ctx, ns)
	if err != nil {
		return client.SecretValues{}, err
	}
	for _, one := range all.Items {
		if one.Name == name {
			return one, nil
		}
	}
	return client.SecretValues{}, nil
}

// hasKeys refuses keys that the Secret does not have: after a typo the user would believe that the key is gone.
func hasKeys(is client.SecretValues, keys []string) error {
	for _, key := range keys {
		if is.Name != "" && !slices.ContainsFunc(is.Keys, func(k client.SecretKey) bool { return k.Name == key }) {
			return usagef("Secret %s has no key %s: nothing was changed", clean(is.Name), clean(key))
		}
	}
	return nil
}

// saySecretUse prints what will be deleted and what uses it, and asks for confirmation.
func (a *app) saySecretUse(ctx context.Context, is client.SecretValues, what string) error {
	a.say("%s will be deleted. This cannot be undone.", what)
	for _, u := range is.UsedBy {
		a.say("%s %s uses it, and cannot start without it.", clean(u.Kind), clean(u.Name))
	}
	return a.confirmed(ctx)
}

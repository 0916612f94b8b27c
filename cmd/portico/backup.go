package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/config/backup"
)

// saving are the flags of portico backup and portico restore.
type saving struct {
	cluster        clusterFlags
	system, file   string
	overwrite, yes bool
}

func (s *saving) add(cmd *cobra.Command) {
	s.cluster.add(cmd)
	cmd.Flags().StringVar(&s.system, "system-namespace", "portico-system", "`namespace` of operator and portal")
	_ = cmd.RegisterFlagCompletionFunc("system-namespace", cobra.NoFileCompletions) // the flag is there
}

func (a *app) backupCommand() *cobra.Command {
	var s saving
	cmd := &cobra.Command{
		Use: "backup", Short: "Save what Portico keeps in a cluster, as YAML", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Backup writes what portico restore needs when the cluster is lost: every resource of Portico's kinds, their namespaces and
the bindings of Portico's roles. It talks to Kubernetes with your kubeconfig, not to the portal.

It contains no Secrets. It lists the Secrets that resources refer to: save them yourself by other means.`,
		Example: `  portico backup > portico.yaml
  portico backup --context production --file portico.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.backup(cmd.Context(), s) },
	}
	s.add(cmd)
	cmd.Flags().StringVar(&s.file, "file", "", "`path` to write to, which must not exist; default: stdout")
	return cmd
}

func (a *app) backup(ctx context.Context, s saving) (err error) {
	cluster, err := s.open()
	if err != nil {
		return err
	}
	made, err := cluster.Save(ctx) // before anything is written: half a backup is none
	if err != nil {
		return err
	}
	if err := a.writeBackup(s.file, made); err != nil {
		return err
	}
	a.say("Saved %d resources of the cluster with the ID %s.", len(made.Objects), clean(made.ClusterID))
	a.saySecrets(made, "Save these Secrets by other means, as resources refer to them:")
	return nil
}

// writeBackup writes the backup to a new file, readable to its owner only, or to stdout.
func (a *app) writeBackup(path string, made *backup.Backup) error {
	if path == "" {
		return made.Write(a.out)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if errors.Is(err, os.ErrExist) {
		return usagef("%s is there already, and is left as it is: name another file", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(made.Write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func (a *app) saySecrets(b *backup.Backup, heading string) {
	if len(b.Secrets) == 0 {
		return
	}
	a.say("%s", heading)
	for _, secret := range b.Secrets {
		a.say("  %s", clean(secret))
	}
}

func (s *saving) open() (*backup.Cluster, error) {
	cfg, err := s.cluster.config()
	if err != nil {
		return nil, err
	}
	return backup.New(cfg, s.system)
}

func (a *app) restoreCommand() *cobra.Command {
	var s saving
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Bring a backup into a cluster", Args: words(1, 1),
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		Long: `Restore creates in a cluster what portico backup saved of a lost one, in the right order. It records the old identity of each
namespace and each hostname, so that Portico manages again what they have in AWS. It says what it will do, and asks.

What exists already and differs from the backup stays as it is, unless you give --overwrite. If restore stops half-way, run it
again. Stop the operator before. FILE can be - for standard input, with --yes.`,
		Example: `  kubectl scale deployment portico-operator -n portico-system --replicas=0
  portico restore portico.yaml --context production-2`,
		RunE: func(cmd *cobra.Command, args []string) error { s.file = args[0]; return a.restore(cmd.Context(), s) },
	}
	s.add(cmd)
	cmd.Flags().BoolVar(&s.overwrite, "overwrite", false, "give resources that differ the content of the backup")
	cmd.Flags().BoolVar(&s.yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) restore(ctx context.Context, s saving) error {
	if !s.yes && (!a.asks || s.file == "-") {
		return usagef("restore needs --yes where nobody can be asked")
	}
	saved, err := a.readBackup(s.file)
	if err != nil {
		return err
	}
	cluster, err := s.open()
	if err != nil {
		return err
	}
	plan, err := cluster.Plan(ctx, saved, s.overwrite)
	if errors.Is(err, backup.ErrOperatorRuns) {
		return hinted(err, "Scale the Deployment portico-operator to 0, restore, and scale it up again.")
	}
	if err != nil {
		return err
	}
	for _, kept := range plan.Kept {
		a.say("%s is there and differs: it stays as it is. --overwrite gives it the content of the backup.",
			clean(kept))
	}
	if err := a.carryOut(ctx, cluster, plan, s.yes); err != nil {
		return err
	}
	a.saySecrets(saved, "The resources refer to these Secrets, which no backup has. Restore them by other means:")
	a.say("Then start the operator with --cluster-id=%s: what is in AWS carries this ID.", clean(saved.ClusterID))
	return nil
}

func (a *app) carryOut(ctx context.Context, cluster *backup.Cluster, plan *backup.Plan, yes bool) error {
	if len(plan.Steps) == 0 {
		a.say("There is nothing to restore: the cluster has everything.")
		return nil
	}
	a.say("To restore, portico will:")
	for _, step := range plan.Steps {
		a.say("  %s", clean(step.Does))
	}
	if !yes {
		if err := a.confirmed(ctx); err != nil {
			return err
		}
	}
	done := 0
	if err := cluster.Apply(ctx, plan, func(backup.Step) { done++ }); err != nil {
		return hinted(err, fmt.Sprintf("Done so far: %d of %d. What is done stays; run it again to go on.", done,
			len(plan.Steps)))
	}
	a.say("Done: %d.", done)
	return nil
}

func (a *app) readBackup(path string) (*backup.Backup, error) {
	from := a.in
	if path != "-" {
		file, err := os.Open(path) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	return backup.Read(from)
}

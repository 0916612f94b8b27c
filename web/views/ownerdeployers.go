package views

import "slices"

// Deployer is a pipeline that deploys for a Team.
type Deployer struct {
	Name, Issuer, Repository string
	Ref                      string // the branch, tag or environment, in words
	Rights                   string // in words
	Used, Refused            Moment
	Run                      string // that used it last
	Refusal                  string // which claim did not fit; "" if nothing was refused
	Missing                  bool   // it has no account
	Idle                     bool   // nobody has used it for long
}

// DeployerForm is the form that adds and removes deployers.
type DeployerForm struct {
	Name, Issuer, Repository, RepositoryID, OwnerID string
	Runs, Ref, Role                                 string
	Namespaces                                      []string
	Errors                                          []string
	Sure                                            bool // the removal must be confirmed
}

// in reports whether a namespace is chosen: all are, in a form that nobody has sent yet.
func (f DeployerForm) in(namespace string) bool {
	return len(f.Namespaces) == 0 && len(f.Errors) == 0 || slices.Contains(f.Namespaces, namespace)
}

// What a deployer runs for, as in the form.
const (
	RunsForBranch      = "branch"
	RunsForTag         = "tag"
	RunsForEnvironment = "environment"
)

var deployerRuns = []Choice{
	{Value: RunsForBranch, Label: "A branch"},
	{Value: RunsForTag, Label: "A tag"},
	{Value: RunsForEnvironment, Label: "An environment"},
}

func deployerColumns(actions bool) []column {
	all := textColumns("Deployer", "Last used")
	if actions {
		all = append(all, column{title: "Change", unseen: true})
	}
	return all
}

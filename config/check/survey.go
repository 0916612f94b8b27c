package check

import (
	"context"
	"fmt"
	"time"
)

// State of what was looked at.
type State string

// The states.
const (
	OK      State = "ok"
	Lacking State = "lacking" // Portico does not work without
	Off     State = "off"     // Portico works without it, but for a part
	Unknown State = "unknown" // it could not be looked at
)

// Finding is what a survey says of one thing.
type Finding struct {
	About string `json:"about"` // such as Kubernetes version
	State State  `json:"state"`
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"` // what to do; "" if there is nothing
}

// Survey is what an installer wants to know.
type Survey struct {
	// Before says that Portico is not installed yet: what comes with it is not looked for.
	Before bool
	// Now is the time of this machine.
	Now func() time.Time
}

// look is one thing that a survey looks at.
type look struct {
	about string
	after bool // only of what is installed
	at    func(context.Context) ([]Finding, error)
}

// Survey looks at all that Portico needs of the cluster, one thing after the other. What cannot be looked at is a
// finding, and only a cluster that does not answer at all is an error.
func (c *Cluster) Survey(ctx context.Context, s Survey) ([]Finding, error) {
	first, err := c.version(ctx, s.Now)
	if err != nil {
		return nil, err
	}
	all := first
	for _, one := range []look{
		{"Admission policies of Kubernetes", false, c.admissionServed},
		{"Constrained impersonation", false, c.constrained},
		{"Custom resource definitions", true, c.problems("as this version needs them", c.CRDs)},
		{"Versions in storage", true, c.stored},
		{"Admission policies of Portico", true, c.problems("as this version brings them", c.Policies)},
		{"Namespaces, accounts and Secrets", true, c.problems("there", c.present)},
		{"Rights of operator and portal", true, c.rightsGiven},
		{"Operator and portal", true, c.running},
		{"Gateway API", false, c.gatewayAPI},
		{"AWS Load Balancer Controller", false, c.loadBalancers},
		{"AWSProviders", true, c.providers},
	} {
		if one.after && s.Before {
			continue
		}
		found, err := one.at(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			found = []Finding{{State: Unknown, Says: err.Error(), Fix: "use a kubeconfig with the rights of an admin " +
				"of the cluster, or try again when it answers"}}
		}
		for _, f := range found {
			f.About = one.about
			all = append(all, f)
		}
	}
	return all, nil
}

// Lacks counts what Portico does not work without, or what is not known to be there.
func Lacks(all []Finding) (n int) {
	for _, f := range all {
		if f.State == Lacking || f.State == Unknown {
			n++
		}
	}
	return n
}

// problems makes findings of a check's problems.
func (c *Cluster) problems(fine string, run func(context.Context) ([]Problem, error)) func(context.Context) (
	[]Finding, error) {
	return func(ctx context.Context) ([]Finding, error) {
		wrong, err := run(ctx)
		if err != nil {
			return nil, err
		}
		if len(wrong) == 0 {
			return []Finding{{State: OK, Says: fine}}, nil
		}
		all := make([]Finding, 0, len(wrong))
		for _, p := range wrong {
			all = append(all, Finding{State: Lacking, Says: p.Object + " " + p.Says, Fix: p.Fix})
		}
		return all, nil
	}
}

// present returns which objects without comparable content are missing.
func (c *Cluster) present(ctx context.Context) ([]Problem, error) {
	wanted, err := c.installed()
	if err != nil {
		return nil, err
	}
	var plain []*object
	for _, o := range wanted {
		switch o.GetKind() {
		case "Namespace", "ServiceAccount", "Secret":
			plain = append(plain, o)
		}
	}
	return c.each(ctx, plain, func(_, _ *object) []string { return nil })
}

// providers checks the AWS accounts.
func (c *Cluster) providers(ctx context.Context) ([]Finding, error) {
	list, err := c.list(ctx, "portico.dev", "v1alpha1", "awsproviders")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return []Finding{{
			State: Off, Says: "there is none, so nobody can request anything in AWS",
			Fix: "create an AWSProvider; see docs/kinds/awsprovider.md",
		}}, nil
	}
	var all []Finding
	for i := range list {
		ready, why := condition(&list[i], "Ready")
		if ready {
			all = append(all, Finding{State: OK, Says: list[i].GetName() + " is Ready"})
			continue
		}
		all = append(all, Finding{
			State: Lacking, Says: fmt.Sprintf("%s is not Ready: %s", list[i].GetName(), why),
			Fix: "kubectl describe awsprovider " + list[i].GetName(),
		})
	}
	return all, nil
}

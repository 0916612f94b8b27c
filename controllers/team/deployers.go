package team

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	exchange "github.com/portico-platform/portico/controllers/deploy"
	"github.com/portico-platform/portico/controllers/engine"
)

// readDeployers finds out which deployers of the team have an account: those that the DeployPolicy allows.
func (p *pass) readDeployers(ctx context.Context) error {
	if len(p.team.Spec.Deployers) == 0 {
		return nil
	}
	policy := &v1alpha1.DeployPolicy{}
	found, err := engine.Find(ctx, p.Client, client.ObjectKey{Name: v1alpha1.DeployPolicyName}, policy)
	if err != nil {
		return err
	}
	if !found {
		p.refusal = engine.Blocked(v1alpha1.ReasonDeployerNotAllowed, "there is no DeployPolicy, so that no pipeline "+
			"deploys; a platform admin makes one, or take spec.deployers out")
		return nil
	}
	p.conditions = map[string]string{}
	for i := range p.team.Spec.Deployers {
		d := &p.team.Spec.Deployers[i]
		if err := p.judge(policy, d); err != nil {
			p.refusal = err
			continue
		}
		p.deployers = append(p.deployers, d)
		p.conditions[d.Name] = exchange.Conditions(d, issuerOf(policy, d))
	}
	return nil
}

// issuerOf returns the issuer that a deployer names, nil if there is none.
func issuerOf(policy *v1alpha1.DeployPolicy, d *v1alpha1.TeamDeployer) *v1alpha1.DeployIssuer {
	for i := range policy.Spec.Issuers {
		if policy.Spec.Issuers[i].Name == d.Issuer {
			return &policy.Spec.Issuers[i]
		}
	}
	return nil
}

// judge returns why the DeployPolicy does not allow a deployer; admission refuses new ones for the same.
func (p *pass) judge(policy *v1alpha1.DeployPolicy, d *v1alpha1.TeamDeployer) error {
	issuer := issuerOf(policy, d)
	if issuer == nil {
		return engine.Blocked(v1alpha1.ReasonDeployerNotAllowed, "deployer %s: the DeployPolicy has no issuer %s; "+
			"choose another one, or ask a platform admin for it", d.Name, d.Issuer)
	}
	if !slices.ContainsFunc(issuer.Owners, func(o v1alpha1.DeployOwner) bool {
		return o.ID == d.OwnerID && o.Name == d.Owner && (len(o.Teams) == 0 || slices.Contains(o.Teams, p.team.Name))
	}) {
		return engine.Blocked(v1alpha1.ReasonDeployerNotAllowed, "deployer %s: the DeployPolicy does not let this "+
			"team name repositories of %s (ownerID %s) at %s; ask a platform admin", d.Name, d.Owner, d.OwnerID,
			d.Issuer)
	}
	for _, ns := range d.Namespaces {
		if !slices.Contains(p.team.NamespaceNames(), ns) {
			return engine.Blocked(v1alpha1.ReasonDeployerNotAllowed, "deployer %s: %s is no namespace of the team; it "+
				"has %s", d.Name, ns, strings.Join(p.team.NamespaceNames(), ", "))
		}
	}
	return nil
}

// deployersWith returns the deployers that get a ClusterRole in a namespace, as subjects. In a suspended team they only
// look, as members do.
func (p *pass) deployersWith(namespace, role string) []*rbacac.SubjectApplyConfiguration {
	var who []*rbacac.SubjectApplyConfiguration
	for _, d := range p.deployers {
		if slices.Contains(d.Namespaces, namespace) && slices.Contains(p.rolesOf(d), role) {
			who = append(who, rbacac.Subject().WithKind(rbacv1.ServiceAccountKind).WithNamespace(deploy.Namespace).
				WithName(deploy.Account(p.team.Name, d.Name)))
		}
	}
	return who
}

// rolesOf returns the ClusterRoles of a deployer.
func (p *pass) rolesOf(d *v1alpha1.TeamDeployer) []string {
	viewer := []string{v1alpha1.TeamViewer.ClusterRole()}
	switch {
	case p.team.Spec.Suspended, d.Role == v1alpha1.DeployerViewer:
		return viewer
	case d.Role == v1alpha1.DeployerDeveloper:
		return []string{v1alpha1.TeamDeveloper.ClusterRole()}
	}
	for _, kind := range d.Kinds {
		viewer = append(viewer, deploy.RoleOf(kind))
	}
	return viewer
}

// accounts keeps a ServiceAccount for each deployer, in a namespace of their own. If the conditions of a deployer
// change, its account is deleted and created again, which ends the tokens that were issued before.
func (p *pass) accounts(ctx context.Context) (string, error) {
	failed := firstError{}
	failed.add(p.refusal)
	failed.add(p.removeAccounts(ctx))
	p.team.Status.Deployers = nil
	for _, d := range p.deployers {
		account := &corev1.ServiceAccount{}
		want := coreac.ServiceAccount(deploy.Account(p.team.Name, d.Name), deploy.Namespace).
			WithLabels(map[string]string{v1alpha1.LabelTeam: p.team.Name}).
			WithAnnotations(map[string]string{deploy.AnnotationConditions: p.conditions[d.Name]}).
			WithAutomountServiceAccountToken(false)
		if err := p.objects.Apply(ctx, want, account); err != nil {
			failed.add(err)
			continue
		}
		p.team.Status.Deployers = append(p.team.Status.Deployers, deployerStatus(d.Name, account))
	}
	return p.used(), failed.err()
}

// removeAccounts deletes the accounts of deployers that are gone, or have other conditions now.
func (p *pass) removeAccounts(ctx context.Context) error {
	wanted := map[string]string{}
	for _, d := range p.deployers {
		wanted[deploy.Account(p.team.Name, d.Name)] = p.conditions[d.Name]
	}
	list := &corev1.ServiceAccountList{}
	if err := p.Client.List(ctx, list, client.InNamespace(deploy.Namespace),
		client.MatchingLabels{v1alpha1.LabelTeam: p.team.Name}); err != nil {
		return fmt.Errorf("list the accounts of deployers: %w", err)
	}
	for i := range list.Items {
		account := &list.Items[i]
		if conditions, keep := wanted[account.Name]; keep &&
			account.Annotations[deploy.AnnotationConditions] == conditions {
			continue
		}
		if err := p.objects.Delete(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

func deployerStatus(name string, account *corev1.ServiceAccount) v1alpha1.TeamDeployerStatus {
	notes := account.Annotations
	return v1alpha1.TeamDeployerStatus{
		Name: name, Account: deploy.Namespace + "/" + account.Name, Since: account.CreationTimestamp,
		LastUsed: timeOf(notes[deploy.AnnotationUsed]), LastRun: notes[deploy.AnnotationUsedBy],
		LastRefused: timeOf(notes[deploy.AnnotationRefused]), LastRefusal: notes[deploy.AnnotationRefusal],
	}
}

func timeOf(text string) *metav1.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: at}
}

// used returns the condition's message: how many there are, and which nobody uses.
func (p *pass) used() string {
	var idle []string
	for _, s := range p.team.Status.Deployers {
		if deploy.Idle(s, p.Now()) {
			idle = append(idle, s.Name)
		}
	}
	words := count(len(p.team.Status.Deployers), "deployer") + " can exchange tokens"
	if len(idle) > 0 {
		words += "; not used for 90 days: " + strings.Join(idle, ", ") + ": remove what is not needed"
	}
	return words
}

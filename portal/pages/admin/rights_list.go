package admin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// addRights adds the AWS rights of Pods from the operator's status: the portal sends no requests to AWS.
func (p *Pages) addRights(ctx context.Context, o tabRequest, view *views.Admin) error {
	if err := p.addRightsAccounts(ctx, o, view); err != nil {
		return err
	}
	all, hidden, err := p.overseen(ctx, o.id, v1alpha1.KindAccessBinding)
	if err != nil {
		return err
	}
	view.Hidden, view.Total = view.Hidden || hidden, len(all)
	for _, obj := range all {
		b := &v1alpha1.AccessBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, b); err != nil {
			return err
		}
		r := p.rightOf(obj, b)
		if (!o.Unused || r.Unused) && humanize.HasWords(o.Search, rightWords(r)) {
			view.Rights = append(view.Rights, r)
		}
	}
	slices.SortFunc(view.Rights, func(a, b views.Right) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Team, b.Team),
			cmp.Compare(a.ServiceAccount, b.ServiceAccount), cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	view.Rights = batchOf(view, view.Rights)
	return nil
}

// rank sorts removable rights first.
func rank(r views.Right) int {
	if r.Unused {
		return 0
	}
	return 1
}

// rightWords returns the text that a search matches.
func rightWords(r views.Right) string {
	words := []string{r.Team, r.ServiceAccount, r.Resource.Name, r.Role}
	for _, u := range r.Uses {
		words = append(words, u.Resource.Kind, u.Resource.Name)
	}
	return strings.Join(words, " ")
}

// unusedAfter is how long rights must be unused to count as removable.
const unusedAfter = 90 * 24 * time.Hour

func (p *Pages) rightOf(obj *unstructured.Unstructured, b *v1alpha1.AccessBinding) views.Right {
	r := views.Right{
		Resource: p.ResourceNamed(v1alpha1.KindAccessBinding, obj), Team: b.Namespace,
		ServiceAccount: b.Spec.ServiceAccountName,
		Role:           b.Status.RoleARN[strings.LastIndex(b.Status.RoleARN, "/")+1:],
		Shared:         b.Status.Mode == v1alpha1.WorkloadIdentityPodIdentity,
	}
	for _, of := range b.Spec.Resources {
		kind, _ := p.Cluster.Kinds.Now().ByName(of.Kind)
		r.Uses = append(r.Uses, views.Relation{
			Resource: views.Resource{Kind: kind.Title, Name: of.Name},
			Purpose:  access.Words(of.Kind, of.Access),
		})
	}
	use := b.Status.RoleUse
	switch {
	case use == nil:
		r.Never = "not known yet"
	case use.LastUsedTime == nil:
		r.Never, r.Unused = "never, as far as AWS remembers", use.ReadTime.Sub(b.CreationTimestamp.Time) > unusedAfter
	default:
		r.LastUsed, r.Region = views.Moment{At: use.LastUsedTime.Time, Now: p.Now()}, use.LastUsedRegion
		r.Unused = use.ReadTime.Sub(use.LastUsedTime.Time) > unusedAfter
	}
	return r
}

// addRightsAccounts adds the AWS accounts, and their remaining capacity.
func (p *Pages) addRightsAccounts(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.ProviderKind)
	if err != nil {
		return err
	}
	view.Hidden = hidden
	for _, obj := range all {
		provider := &v1alpha1.AWSProvider{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, provider); err != nil {
			return err
		}
		view.RightsAccounts = append(view.RightsAccounts, p.rightsAccountOf(obj, provider))
	}
	slices.SortFunc(view.RightsAccounts, func(a, b views.RightsAccount) int {
		return cmp.Compare(a.Resource.Name, b.Resource.Name)
	})
	return nil
}

func (p *Pages) rightsAccountOf(obj *unstructured.Unstructured, a *v1alpha1.AWSProvider) views.RightsAccount {
	account := cmp.Or(a.Status.AccountID, a.Spec.AccountID, "account not known")
	out := views.RightsAccount{
		Resource: p.ResourceNamed(page.ProviderKind, obj), Place: account + ", " + a.Spec.Region,
		Look: rightsLook(a),
	}
	w, s := a.Spec.WorkloadIdentity, a.Status.WorkloadIdentity
	if !w.GivesRights() {
		return out
	}
	out.Way = "IRSA, a role for each ServiceAccount"
	if w.Mode == v1alpha1.WorkloadIdentityPodIdentity {
		out.Way = "EKS Pod Identity, cluster " + w.ClusterName
		if ref := w.ClusterProviderRef; ref != nil {
			out.Way = "EKS Pod Identity, cluster of the AWS account " + ref.Name
		}
	}
	if s == nil {
		return out
	}
	out.Read = views.Moment{At: s.ReadTime.Time, Now: p.Now()}
	for _, q := range []struct {
		of  string
		use *v1alpha1.QuotaUse
	}{{"IAM roles of the account", s.Roles}, {"Associations of the cluster", s.Associations}} {
		if q.use != nil {
			out.Use = append(out.Use, views.Use{Of: q.of, N: int(q.use.Used), Most: int(q.use.Quota)})
		}
	}
	return out
}

// rightsLook returns whether the prerequisites for rights of Pods are set up in the account.
func rightsLook(a *v1alpha1.AWSProvider) views.Look {
	if !a.Spec.WorkloadIdentity.GivesRights() {
		return views.Look{Word: "None", Icon: "info", Tone: "idle"}
	}
	ready := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionWorkloadIdentityReady)
	full := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionQuotaNearlyFull)
	switch {
	case ready == nil || ready.Status == metav1.ConditionUnknown:
		return views.Look{Word: "Not known yet", Icon: "wait", Tone: "idle"}
	case ready.Status == metav1.ConditionFalse:
		return views.Look{
			Word: "Something is missing", Icon: "alert", Tone: "bad",
			Text: humanize.Sentence(ready.Message),
		}
	case full != nil && full.Reason == v1alpha1.ReasonQuotaExceeded:
		return views.Look{Word: "Full", Icon: "alert", Tone: "bad", Text: humanize.Sentence(full.Message)}
	case full != nil:
		return views.Look{Word: "Nearly full", Icon: "alert", Tone: "warn", Text: humanize.Sentence(full.Message)}
	}
	return views.Look{Word: "Given", Icon: "check", Tone: "good"}
}

package page

import (
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/web/views"
)

// QuotaUses returns quotas as bars, in the order given.
func (b *Base) QuotaUses(all []teams.Quota) []views.QuotaUse {
	var out []views.QuotaUse
	for _, q := range all {
		u := views.QuotaUse{
			ID: "quota-" + q.Namespace + "-" + ElementID(q.Name) + "-" + Slug(q.Of), Of: b.quotaOf(q),
			Team: views.Choice{Value: views.AboutPath(q.Namespace), Label: q.Namespace}, Known: q.Known, Full: q.Full(),
			Words: "not counted yet, " + q.Hard.String() + " allowed",
		}
		if q.Known {
			u.Words = q.Used.String() + " of " + q.Hard.String()
			u.Percent = shareOf(q)
		}
		if u.Full {
			u.Words += ", full"
		}
		out = append(out, u)
	}
	return out
}

// shareOf returns the used share of a quota in percent, at most 100; 100 for a quota of zero.
func shareOf(q teams.Quota) int {
	hard := q.Hard.AsApproximateFloat64()
	if hard <= 0 {
		return 100
	}
	return int(min(100, q.Used.AsApproximateFloat64()/hard*100))
}

// CountQuota returns Kubernetes' name of the quota on the number of objects of a kind.
func CountQuota(plural string) string { return "count/" + plural + "." + v1alpha1.GroupVersion.Group }

// quotaOf returns what a quota limits, with a link to the list if it counts one of our kinds.
func (b *Base) quotaOf(q teams.Quota) views.Choice {
	for _, k := range b.Cluster.Kinds.Now() {
		if CountQuota(k.Plural) != q.Of {
			continue
		}
		if k.KeptBy != "" {
			return views.Choice{Label: k.Title}
		}
		return views.Choice{Value: views.TeamPath(q.Namespace) + views.Query{Kind: k.Plural}.Encode(), Label: k.Title}
	}
	return views.Choice{Label: q.Of}
}

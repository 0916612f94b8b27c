package resource

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/deletion"
	"github.com/portico-platform/portico/portal/senders"
	"github.com/portico-platform/portico/web/views"
)

// factsList returns the details beside the steps. What is not known yet has its place from the start, so that the page
// does not jump when it comes; what may never come is left out.
func factsList(obj *unstructured.Unstructured, k catalog.Kind, r views.Resource, now time.Time) []views.Fact {
	all := columnFacts(obj, k)
	if k.KeptBy == "" && !isApp(k) { // whose page has it on top
		all = append(all, views.Fact{Label: "Endpoint", Value: r.Endpoint, Code: true, Link: webLink(r.Endpoint), Due: k.Endpoint != ""})
	}
	if question, answer := senders.Question(obj); question != "" {
		all = append(all, views.Fact{Label: question, Value: answer})
	}
	all = append(all, []views.Fact{
		{Label: "ARN", Value: catalog.TextAt(obj, "status", "arn"), Code: true, Due: k.Tells("arn")},
		{Label: "Region", Value: catalog.TextAt(obj, "status", "region"), Due: k.Tells("region")},
		{Label: "AWS account", Value: catalog.TextAt(obj, "spec", "providerRef", "name")},
		{Label: "Account ID", Value: catalog.TextAt(obj, "status", "accountID"), Code: true, Due: k.Tells("accountID")},
		{
			Label: "Secret", Value: catalog.TextAt(obj, "status", "binding", "name"), Code: true,
			Note: "holds the connection details for your web app", Due: k.Tells("binding"),
		},
		{Label: "When deleted", Value: deletion.PolicyWords(obj, k.Deletion)},
		{Label: "Requested by", Value: r.RequestedBy},
		{Label: "Created", At: r.Created},
		{Label: "First ready", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "firstReadyTime")), Now: now}, Due: k.KeptBy == ""},
		{Label: "Role last used", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "roleUse", "lastUsedTime")), Now: now}},
		{Label: "Last change", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "lastSyncTime")), Now: now}, Due: k.Tells("lastSyncTime")},
	}...)
	return slices.DeleteFunc(all, func(f views.Fact) bool { return f.Value == "" && f.At.At.IsZero() && !f.Due })
}

// columnFacts returns columns of kubectl: of objects that teams do not make themselves all, but for what the page says
// elsewhere; of others those that the kind names.
func columnFacts(obj *unstructured.Unstructured, k catalog.Kind) []views.Fact {
	var all []views.Fact
	for _, c := range k.Columns {
		elsewhere := slices.Contains([]string{"Ready", "Reason", "Message", "Age"}, c.Name)
		if elsewhere || k.KeptBy == "" && !slices.Contains(k.Overview, c.Name) {
			continue
		}
		all = append(all, views.Fact{Label: c.Name, Value: listText.Replace(c.Value(obj)), Due: k.KeptBy == ""})
	}
	return all
}

// listText makes words of a list in JSON.
var listText = strings.NewReplacer(`["`, "", `","`, ", ", `"]`, "")

// webLink returns what can be opened in a browser, "" for anything else; a Service's own name is known in the cluster
// only.
func webLink(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.HasSuffix(u.Hostname(), ".svc") {
		return ""
	}
	return endpoint
}

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

// factsList returns the details beside the steps. Values that are not known yet have their place from the start, so
// that the layout does not change; optional ones are left out.
func factsList(obj *unstructured.Unstructured, k catalog.Kind, r views.Resource, now time.Time) []views.Fact {
	all := columnFacts(obj, k)
	if k.KeptBy == "" && !isApp(k) { // an application's page has it at the top
		all = append(all, views.Fact{
			Label: "Endpoint", Value: r.Endpoint, Code: true, Link: webLink(r.Endpoint),
			Due: k.Endpoint != "",
		})
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
		{Label: "First ready", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "firstReadyTime")), Now: now}, Due: k.KeptBy == "" && k.Own()},
		{Label: "Role last used", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "roleUse", "lastUsedTime")), Now: now}},
		{Label: "Last change", At: views.Moment{At: parsed(catalog.TextAt(obj, "status", "lastSyncTime")), Now: now}, Due: k.Tells("lastSyncTime")},
	}...)
	return slices.DeleteFunc(all, func(f views.Fact) bool { return f.Value == "" && f.At.At.IsZero() && !f.Due })
}

// columnFacts returns kubectl's columns: for kinds that teams do not create all of them, except those shown elsewhere;
// for others those that the kind lists.
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

// listText turns a JSON list into text.
var listText = strings.NewReplacer(`["`, "", `","`, ", ", `"]`, "")

// webLink returns the endpoint as a URL for a browser, "" if it is none; a Service's own name resolves only within the
// cluster.
func webLink(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		strings.HasSuffix(u.Hostname(), ".svc") {
		return ""
	}
	return endpoint
}

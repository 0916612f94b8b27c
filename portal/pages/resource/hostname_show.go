package resource

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// addHostname adds the parts for hostnames: the other holder, how to use it, and its certificate.
func (p *Pages) addHostname(ctx context.Context, l objectRequest, obj *unstructured.Unstructured,
	d *views.Detail,
) error {
	if !page.IsHostname(l.ref.Kind) {
		return nil
	}
	req := &v1alpha1.GatewayHostnameRequest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, req); err != nil {
		return fmt.Errorf("reading GatewayHostnameRequest %s: %w", obj.GetName(), err)
	}
	at := 0
	if d.Resource.Endpoint != "" {
		at = 1 // after it
	}
	d.Facts = slices.Insert(d.Facts, at, hostnameFacts(req)...)
	h := &views.Hostname{ParentRef: parentRef(req), Route: route(req), Certificate: p.certificateFacts(
		req.Status.Certificate)}
	d.Hostname = h
	var err error
	if h.Use, err = p.useHref(ctx, l, d.Resource.Leaving); err != nil {
		return err
	}
	if c := status.FactsOf(obj).Condition(v1alpha1.StepClaimed); c.True() || c.Reason != "Taken" {
		return nil
	}
	d.Advice = "" // a taken hostname is retried when it is released, not after a change
	h.Holder, err = p.holderOf(ctx, l, req)
	return err
}

// useHref returns the URL of the form for a web app with the hostname, for callers who can post it.
func (p *Pages) useHref(ctx context.Context, l objectRequest, leaving bool) (string, error) {
	app, ok := p.Cluster.Kinds.Now().ByName(catalog.AppKind)
	if !ok || leaving {
		return "", nil
	}
	may, err := p.Cluster.Rights.Can(ctx, l.id, "create", app, l.space.Namespace)
	if err != nil || !may {
		return "", err
	}
	return views.RequestPath(l.space.Team.ID, app.Plural) + "?" + url.Values{
		"spec.expose.hostname": {l.ref.Name},
	}.Encode(), nil
}

// holderOf returns a link to the request that has a taken hostname, for callers who can see it.
func (p *Pages) holderOf(ctx context.Context, l objectRequest, req *v1alpha1.GatewayHostnameRequest) (
	views.Choice, error,
) {
	answer, err := p.Cluster.Hostnames.Check(ctx, l.id, l.space.Namespace, queryOfSpec(req.Spec))
	if page.Unseen(err) {
		return views.Choice{}, nil
	}
	if answer.Holder == (availability.Holder{Namespace: l.ref.Namespace, Name: l.ref.Name}) { // it is this one now
		return views.Choice{}, err
	}
	return p.HolderLink(answer.Holder), err
}

func queryOfSpec(spec v1alpha1.GatewayHostnameRequestSpec) availability.Query {
	return availability.Query{
		Hostname: spec.Hostname, Zone: string(spec.ZoneID), Visibility: string(spec.Visibility),
		Environment: string(spec.Environment),
	}
}

// hostnameFacts returns the details that only hostnames have.
func hostnameFacts(req *v1alpha1.GatewayHostnameRequest) []views.Fact {
	all := []views.Fact{
		{Label: "Hostname", Value: cmp.Or(req.Status.Hostname, req.Spec.Hostname), Code: true},
		{Label: "Visibility", Value: string(req.Spec.Visibility)},
		{Label: "Environment", Value: string(req.Spec.Environment)},
		{Label: "Zone", Value: string(req.Spec.ZoneID), Code: true, Note: req.Status.Zone},
		{Label: "Gateway", Value: req.Status.Gateway, Code: true},
		{Label: "Load balancer", Value: req.Status.LoadBalancer, Code: true},
		{Label: "Claim", Value: req.Status.Claim, Code: true},
	}
	out := all[:0]
	for _, f := range all {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// certificateFacts returns the certificate's state and expiry; none until it is requested.
func (p *Pages) certificateFacts(c *v1alpha1.HostnameCertificate) []views.Fact {
	if c == nil {
		return nil
	}
	all := []views.Fact{{Label: "Status", Value: awsWords(cmp.Or(c.Status, "REQUESTED"))}}
	if c.NotAfter != nil {
		left := int(math.Floor(c.NotAfter.Sub(p.Now()).Hours() / 24))
		note := counted(left, "day") + " left"
		if left < 0 {
			note = "it is over"
		}
		all = append(all, views.Fact{
			Label: "Ends on", Value: c.NotAfter.UTC().Format("2 January 2006") + ",",
			Note: note,
		})
	}
	if c.Renewal != "" {
		all = append(all, views.Fact{Label: "Renewal", Value: awsWords(c.Renewal), Note: "AWS renews it by itself " +
			"while the record that proves the domain is there"})
	}
	if c.Attempt > 1 {
		all = append(all, views.Fact{
			Label: "Requests", Value: strconv.Itoa(int(c.Attempt)),
			Note: "AWS gave up on the earlier ones",
		})
	}
	if c.ARN != "" {
		all = append(all, views.Fact{Label: "ARN", Value: c.ARN, Code: true})
	}
	return all
}

// awsWords turns PENDING_VALIDATION into words.
func awsWords(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, "_", " "))
	return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// parentRef returns a route's parentRef for the hostname; empty until there is a listener.
func parentRef(req *v1alpha1.GatewayHostnameRequest) views.Command {
	c := views.Command{ID: "parent", Title: "Parent of a route"}
	if r := req.Status.ParentRef; r != nil {
		c.Text = fmt.Sprintf("parentRefs:\n- group: %s\n  kind: %s\n  namespace: %s\n  name: %s\n  sectionName: %s\n",
			r.Group, r.Kind, r.Namespace, r.Name, r.SectionName)
	}
	return c
}

// route returns a whole route as an example.
func route(req *v1alpha1.GatewayHostnameRequest) views.Command {
	parent := parentRef(req).Text
	if parent == "" {
		return views.Command{}
	}
	text := "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n" +
		"metadata:\n  name: " + req.Name + "\n  namespace: " + req.Namespace + "\nspec:\n" + indented(parent) +
		"  hostnames:\n  - " + strconv.Quote(cmp.Or(req.Status.Hostname, req.Spec.Hostname)) + "\n" +
		"  rules:\n  - backendRefs:\n    - name: your-service\n      port: 80\n"
	return views.Command{ID: "route", Title: "A whole HTTPRoute", Text: text}
}

func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

package check

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
)

// oldest is the Kubernetes that Portico needs, and why.
const (
	oldest        = "1.36"
	oldestBecause = "it brings constrained impersonation, by which the portal acts as users, and mutating admission " +
		"policies"
)

// mostSkew between this machine and the API server; AWS itself refuses requests of clocks that are five minutes off.
const mostSkew = time.Minute

// maxAnswer bounds an answer; metrics are some megabytes.
const maxAnswer = 64 << 20

// ask gets a path from the API server.
func (c *Cluster) ask(ctx context.Context, path string) (body []byte, header http.Header, err error) {
	at := *c.host
	at.Path = strings.TrimSuffix(at.Path, "/") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, refused(resp.StatusCode, path, body)
	}
	return body, resp.Header, nil
}

// refused returns the API server's error, in its own words if there are any.
func refused(code int, path string, body []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err == nil && status.Message != "" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, path, http.StatusText(code), 0, true)
}

// version checks the API server's version and clock.
func (c *Cluster) version(ctx context.Context, now func() time.Time) ([]Finding, error) {
	body, header, err := c.ask(ctx, "/version")
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	var told struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return nil, fmt.Errorf("read the API server's version: %w", err)
	}
	return []Finding{oldEnough(told.GitVersion), skew(header.Get("Date"), now())}, nil
}

func oldEnough(told string) Finding {
	f := Finding{About: "Kubernetes version", State: OK, Says: told}
	got, err := version.ParseGeneric(told)
	switch {
	case err != nil:
		f.State, f.Says = Unknown, fmt.Sprintf("%q is no version", told)
	case got.LessThan(version.MustParseGeneric(oldest)):
		f.State, f.Says = Lacking, told+" is older than "+oldest
		f.Fix = "upgrade Kubernetes to " + oldest + " or newer: " + oldestBecause
	}
	return f
}

func skew(date string, now time.Time) Finding {
	f := Finding{About: "Clock", State: OK, Says: "the API server's and this machine's agree"}
	then, err := http.ParseTime(date)
	if err != nil {
		f.State, f.Says = Off, "the API server did not say what time it is"
		return f
	}
	if by := now.Sub(then).Abs(); by > mostSkew {
		f.State, f.Says = Lacking, "the API server's and this machine's differ by "+by.Round(time.Second).String()
		f.Fix = "set the clock that is wrong (timedatectl shows this machine's): tokens and requests to AWS are " +
			"refused by clocks that are off"
	}
	return f
}

// serves returns which resources of a group and version the API server serves; none if it does not know the group.
func (c *Cluster) serves(ctx context.Context, group, version string) ([]string, error) {
	body, _, err := c.ask(ctx, "/apis/"+group+"/"+version)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("read what is served of %s: %w", group, err)
	}
	var kinds []string
	for _, r := range list.APIResources {
		kinds = append(kinds, r.Kind)
	}
	return kinds, nil
}

// admissionServed checks that the API server has the kinds of admission policies that Portico uses.
func (c *Cluster) admissionServed(ctx context.Context) ([]Finding, error) {
	kinds, err := c.serves(ctx, "admissionregistration.k8s.io", "v1")
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, kind := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		if !slices.Contains(kinds, kind) {
			missing = append(missing, kind)
		}
	}
	if len(missing) > 0 {
		return []Finding{{
			State: Lacking, Says: "the API server does not serve " + strings.Join(missing, ", ") +
				" of admissionregistration.k8s.io/v1",
			Fix: "use Kubernetes " + oldest + " or newer, and switch the feature not off",
		}}, nil
	}
	return []Finding{{State: OK, Says: "served"}}, nil
}

// featureMetric is the API server's metric about its features.
const featureMetric = `kubernetes_feature_enabled{name="ConstrainedImpersonation"`

// constrained checks whether constrained impersonation is on.
func (c *Cluster) constrained(ctx context.Context) ([]Finding, error) {
	body, _, err := c.ask(ctx, "/metrics")
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), featureMetric); ok {
			if strings.HasSuffix(value, " 1") {
				return []Finding{{State: OK, Says: "on"}}, nil
			}
			return []Finding{{State: Lacking, Says: "it is switched off", Fix: "start the API server without " +
				"--feature-gates=ConstrainedImpersonation=false"}}, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	return []Finding{{State: Lacking, Says: "the API server does not know it", Fix: "upgrade Kubernetes to " + oldest +
		" or newer"}}, nil
}

// HostnameKinds returns the kinds of Gateway API (1.5 and later, for ListenerSet) and of the AWS Load Balancer
// Controller without which there are no hostnames.
func HostnameKinds() []schema.GroupVersionKind {
	gateway := schema.GroupVersion{Group: "gateway.networking.k8s.io", Version: "v1"}
	var all []schema.GroupVersionKind
	for _, kind := range []string{"Gateway", "GatewayClass", "GRPCRoute", "HTTPRoute", "ListenerSet"} {
		all = append(all, gateway.WithKind(kind))
	}
	return append(all, schema.GroupVersionKind{
		Group: "gateway.k8s.aws", Version: "v1", Kind: "LoadBalancerConfiguration",
	})
}

// gatewayAPI returns which kinds that hostnames need are missing.
func (c *Cluster) gatewayAPI(ctx context.Context) ([]Finding, error) {
	served, missing := map[string][]string{}, []string{}
	for _, gvk := range HostnameKinds() {
		of := gvk.GroupVersion().String()
		if _, asked := served[of]; !asked {
			kinds, err := c.serves(ctx, gvk.Group, gvk.Version)
			if err != nil {
				return nil, err
			}
			served[of] = kinds
		}
		if !slices.Contains(served[of], gvk.Kind) {
			missing = append(missing, gvk.Kind+" of "+of)
		}
	}
	if len(missing) > 0 {
		return []Finding{{
			State: Off, Says: "no hostnames: the cluster lacks " + strings.Join(missing, ", "),
			Fix: "install the CRDs of Gateway API 1.5 or newer, and of the AWS Load Balancer Controller; hostnames " +
				"start by themselves then",
		}}, nil
	}
	return []Finding{{State: OK, Says: "served, with ListenerSet"}}, nil
}

// albController is what GatewayClasses of Application Load Balancers name.
const albController = "gateway.k8s.aws/alb"

// loadBalancers checks whether the AWS Load Balancer Controller has accepted a GatewayClass.
func (c *Cluster) loadBalancers(ctx context.Context) ([]Finding, error) {
	classes, err := c.list(ctx, "gateway.networking.k8s.io", "v1", "gatewayclasses")
	if err != nil {
		return nil, err
	}
	f := Finding{
		State: Off, Says: "no hostnames: there is no GatewayClass with the controller " + albController,
		Fix: "install the AWS Load Balancer Controller with its Gateway API support, and create a GatewayClass " +
			"named alb",
	}
	for i := range classes {
		controller, _, _ := unstructured.NestedString(classes[i].Object, "spec", "controllerName")
		if controller != albController {
			continue
		}
		accepted, why := condition(&classes[i], "Accepted")
		if accepted {
			return []Finding{{State: OK, Says: "it accepted the GatewayClass " + classes[i].GetName()}}, nil
		}
		f.Says = "no hostnames: the GatewayClass " + classes[i].GetName() + " is not accepted: " + why
		f.Fix = "see whether the AWS Load Balancer Controller runs, and its log"
	}
	return []Finding{f}, nil
}

// list returns the objects of a resource in all namespaces; none where it is not served.
func (c *Cluster) list(ctx context.Context, group, version, resource string) ([]object, error) {
	list, err := c.objects.Resource(
		schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource, err)
	}
	return list.Items, nil
}

// condition reports whether a condition is True, and its message.
func condition(o *object, wanted string) (isTrue bool, why string) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range all {
		c, _ := one.(map[string]any)
		if c["type"] != wanted {
			continue
		}
		reason, _ := c["reason"].(string)
		message, _ := c["message"].(string)
		return c["status"] == "True", cmp.Or(message, reason)
	}
	return false, "nothing has looked at it yet"
}

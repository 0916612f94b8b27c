package upgrade

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// records returns the leading operator's reconcile records, by UID.
func (c *installation) records(ctx context.Context) (map[string]operatorapi.Record, error) {
	lease, err := c.Clients.CoordinationV1().Leases(stack.Namespace).Get(ctx, operatorapi.Lease, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(lease.Annotations[operatorapi.AnnotationCA])) {
		return nil, errors.New("no leader has said yet where it answers")
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{operatorapi.Audience}},
	}
	token, err := c.Clients.CoreV1().ServiceAccounts(stack.Namespace).CreateToken(
		ctx, "portico-portal", request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: operatorapi.ServerName},
	}
	defer transport.CloseIdleConnections()
	all := map[string]operatorapi.Record{}
	for after, more := "", true; more; more = after != "" {
		page, err := recordsAfter(ctx, transport, lease.Annotations[operatorapi.AnnotationURL], token.Status.Token,
			after)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			all[r.UID] = r
		}
		after = page.Next
	}
	return all, nil
}

func recordsAfter(ctx context.Context, transport *http.Transport, at, token, after string) (
	page operatorapi.List, err error,
) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+operatorapi.ResourcesPath+"?"+url.Values{
		"after": {after},
	}.Encode(), http.NoBody)
	if err != nil {
		return page, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return page, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return page, fmt.Errorf("the operator answers %s", resp.Status)
	}
	return page, json.NewDecoder(resp.Body).Decode(&page)
}

// lookedAt requests a reconcile of every object, and waits until the leading operator has reconciled each successfully.
func (c *installation) lookedAt(ctx context.Context) error {
	all, err := c.ours(ctx)
	if err != nil {
		return err
	}
	asked := time.Now()
	note := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationReconcileRequestedAt,
		asked.Format(time.RFC3339Nano))
	for i := range all {
		o := &all[i]
		if _, err := c.of(o.GetKind()).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, note,
			metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("ask for a look at %s: %w", o.GetName(), err)
		}
	}
	return c.Until(ctx, poll, "every object to be looked at, and Ready", func() error {
		records, err := c.records(ctx)
		if err != nil {
			return err
		}
		for i := range all {
			if err := content(&all[i], records, asked); err != nil {
				return err
			}
		}
		return nil
	})
}

// inSync is the reason of every record without an error.
const inSync = "InSync"

// content returns nil if the object was reconciled successfully since the given time, otherwise an error with the
// reason.
func content(o *unstructured.Unstructured, records map[string]operatorapi.Record, since time.Time) error {
	r, ok := records[string(o.GetUID())]
	switch {
	case !ok || r.LastChecked.Before(since):
		return fmt.Errorf("%s %s/%s has not been looked at", o.GetKind(), o.GetNamespace(), o.GetName())
	case r.Failures > 0 || r.Reason != inSync:
		return fmt.Errorf("%s %s/%s is %s: %s", r.Kind, r.Namespace, r.Name, r.Reason, r.Message)
	}
	return nil
}

// planned returns the actions that the leading operator has planned since the given time.
func (c *installation) planned(ctx context.Context, since time.Time) (all []string, err error) {
	records, err := c.records(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.LastPlan == nil || r.LastPlan.At.Before(since) {
			continue
		}
		for _, step := range r.LastPlan.Actions {
			all = append(all, fmt.Sprintf("%s %s/%s: %s, %s", r.Kind, r.Namespace, r.Name, step.Call, step.Why))
		}
	}
	return all, nil
}

// allReady waits until every object of Portico's kinds is Ready, with a status of its latest generation.
func (c *installation) allReady(ctx context.Context) error {
	return c.Until(ctx, poll, "everything to be Ready", func() error {
		all, err := c.ours(ctx)
		if err != nil {
			return err
		}
		for i := range all {
			if err := ready(&all[i]); err != nil {
				return err
			}
		}
		_, err = countsOf(all, c.kinds)
		return err
	})
}

func ready(o *unstructured.Unstructured) error {
	var known struct {
		Status v1alpha1.CommonStatus `json:"status"`
	}
	text, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return err
	}
	for _, condition := range known.Status.Conditions {
		if condition.Type == v1alpha1.ConditionReady && condition.Status == metav1.ConditionTrue &&
			condition.ObservedGeneration == o.GetGeneration() {
			return nil
		}
	}
	return fmt.Errorf("%s %s/%s is not Ready: %+v", o.GetKind(), o.GetNamespace(), o.GetName(), known.Status.Conditions)
}

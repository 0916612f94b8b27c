package check

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Problem is something that a cluster lacks.
type Problem struct {
	Object string // such as CustomResourceDefinition s3buckets.portico.dev
	Says   string // what is wrong with it; a sentence with the object before it
	Fix    string // what to do
}

func (p Problem) String() string { return p.Object + " " + p.Says + ": " + p.Fix }

const (
	fixObjects = "run portico check --fix as an admin of the cluster"
	fixRights  = "its roles are of another version; " + fixObjects
)

// Cluster is the one that is compared.
type Cluster struct {
	objects dynamic.Interface
	names   Names
	http    *http.Client // with the credentials; see direct
	host    *url.URL
}

// New prepares a Cluster; it sends nothing yet.
func New(cfg *rest.Config, names Names) (*Cluster, error) {
	own := rest.CopyConfig(cfg)
	own.QPS = -1 // the API server has fair queues
	c := &Cluster{names: names}
	var err error
	if c.host, _, err = rest.DefaultServerUrlFor(own); err == nil {
		c.http, err = rest.HTTPClientFor(own)
	}
	if err == nil {
		c.http = direct(c.http)
		c.objects, err = dynamic.NewForConfigAndClient(own, c.http)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the checks of the cluster: %w", err)
	}
	return c, nil
}

// direct returns a client like c that follows no redirects. A Pod answers through the API server with any header it
// likes, and the transport adds the credentials to every request, wherever it goes.
func direct(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// within returns the client for the object's kind and namespace.
func (c *Cluster) within(o *object) dynamic.ResourceInterface {
	all := c.objects.Resource(resourceOf(o))
	if o.GetNamespace() == "" {
		return all
	}
	return all.Namespace(o.GetNamespace())
}

// compared returns what is wrong with one object that this version needs, by the function differs; nil if nothing is. A
// missing right to read it is a problem too: the roles of this version grant it to operator and portal.
func (c *Cluster) compared(ctx context.Context, want *object, differs func(want, have *object) []string) (
	*Problem, error,
) {
	p := &Problem{Object: want.GetKind() + " " + want.GetName(), Fix: fixObjects}
	have, err := c.within(want).Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		p.Says = "is missing"
	case apierrors.IsForbidden(err):
		p.Says, p.Fix = "may not be read", fixRights
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", p.Object, err)
	case have.GetDeletionTimestamp() != nil:
		p.Says = "is being deleted"
	default:
		p.Says = brief(differs(want, have))
	}
	if p.Says == "" {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	return p, nil
}

// each compares objects one by one.
func (c *Cluster) each(ctx context.Context, wanted []*object, differs func(want, have *object) []string) (
	[]Problem, error,
) {
	var all []Problem
	for _, want := range wanted {
		p, err := c.compared(ctx, want, differs)
		if err != nil {
			return nil, err
		}
		if p != nil {
			all = append(all, *p)
		}
	}
	return all, nil
}

// resourceOf returns the resource of the object's kind. All kinds that Portico has or installs form their plural
// regularly.
func resourceOf(o *object) schema.GroupVersionResource {
	gvk := o.GroupVersionKind()
	plural := strings.ToLower(gvk.Kind)
	if stem, ok := strings.CutSuffix(plural, "y"); ok {
		return gvk.GroupVersion().WithResource(stem + "ies")
	}
	return gvk.GroupVersion().WithResource(plural + "s")
}

// mostSaid of what differs in one object.
const mostSaid = 3

// brief joins a list for people and counts the entries beyond mostSaid; "" if it is empty.
func brief(all []string) string {
	if more := len(all) - mostSaid; more > 0 {
		return strings.Join(all[:mostSaid], ", ") + fmt.Sprintf(", and %d more", more)
	}
	return strings.Join(all, ", ")
}

//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	entries "github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/controllers/engine"
)

// TestNothingOfANeighbourIsTaken requests resources with the names of a neighbour's, in every way that adopts or
// observes existing ones, and deletes the requests. The neighbour's resources remain as they are, and an observer sees
// nothing of them.
func TestNothingOfANeighbourIsTaken(t *testing.T) {
	j := newJourney(t)
	n := newNeighbour(j)
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	var takers, lookers []engine.Object
	for i := range all {
		kind, field := all[i].Spec.Names.Kind, ""
		if unique := entries.Of(&all[i]).Form.Unique; len(unique) > 0 {
			field = string(unique[0])
		}
		// Hostnames in another team's domain are not granted. Machines have no names in AWS: instanceName is a tag like
		// any other, and a machine is adopted only with the tag portico.dev/adopt=<namespace>/<name> on it, which no
		// field of a request can set.
		if n.things[kind] == nil || field == "" || kind == "GatewayHostnameRequest" {
			continue
		}
		ask := func(name, how string) engine.Object {
			o := j.object(kind, name, how)
			j.lay(o, fmt.Sprintf(`{%q:%q}`, field, n.nameOf(kind)))
			create(t, j.c, o)
			return o
		}
		for way, how := range []string{
			`{}`, `{"adoptionPolicy":"Adopt"}`,
			`{"deletionPolicy":"Retain","adoptionPolicy":"Adopt"}`,
		} {
			takers = append(takers, ask(fmt.Sprintf("taker-%d", way), how))
		}
		lookers = append(lookers, ask("looker", `{"managementPolicy":"Observe"}`))
	}
	for _, o := range takers {
		if _, bucket := o.(*v1alpha1.S3Bucket); bucket { // the names of AWS depend on the namespace
			reason(t, j.c, o, "NameTakenOrDenied")
		} else {
			reason(t, j.c, o, "AlreadyExists")
		}
		if b := bindingOf(t, o); b != nil {
			t.Errorf("%T %s publishes how to reach it: %v", o, o.GetName(), b)
		}
	}
	for _, o := range lookers {
		if _, bucket := o.(*v1alpha1.S3Bucket); bucket {
			reason(t, j.c, o, "NameTakenOrDenied")
			continue
		}
		if got := reason(t, j.c, o, "NotFound"); !strings.HasPrefix(got.Message, "nothing of this name is there") ||
			bindingOf(t, o) != nil {
			t.Errorf("whoever observes a neighbour's %T learns %q, and of its binding %v", o, got.Message,
				bindingOf(t, o))
		}
	}
	for _, o := range slices.Concat(takers, lookers) {
		gone(t, j.c, o)
	}
	n.untouched()
	t.Logf("%d bad inputs", len(takers)+len(lookers))
}

// bindingOf returns the name of the binding Secret in the object's status, or nil.
func bindingOf(t *testing.T, o engine.Object) any {
	t.Helper()
	seen, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	return nested(seen, "status", "binding", "name")
}

// untouched fails unless the neighbour's resources are unchanged.
func (n *neighbour) untouched() {
	n.t.Helper()
	for _, s := range specimens() {
		o := n.things[s.kind]
		if o == nil {
			continue
		}
		annotate(n.t, n.c, o, v1alpha1.AnnotationReconcileRequestedAt, "1")
		ready(n.t, n.c, o)
		if len(s.owned(n.t, string(o.GetUID()))) == 0 {
			n.t.Errorf("the neighbour's %s is gone", s.kind)
		}
	}
}

// nameOf returns the name of the neighbour's resource in AWS.
func (n *neighbour) nameOf(kind string) string {
	switch o := n.things[kind].(type) {
	case *v1alpha1.S3Bucket:
		return o.Status.BucketName
	case *v1alpha1.SQSQueue:
		return o.Status.QueueName
	case *v1alpha1.SNSTopic:
		return o.Status.TopicName
	case *v1alpha1.RDSInstance:
		return o.Status.DBInstanceIdentifier
	}
	n.t.Fatalf("no name of a %s is known: add how to find it", kind)
	return ""
}

//go:build integration

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// vanishing is a reference that is valid until the object is Ready, and broken after that.
type vanishing struct {
	kind, spec string
	there      func(j journey, name string) client.Object // creates what NAME in the spec refers to
	// gone removes what is referred to; nil: it is deleted.
	gone func(j journey, it client.Object, user engine.Object)
	// waits is the reason why the deletion waits, because without the reference the resources in AWS would be left
	// behind, and says is a part of the message. The deletion continues when the reference is valid again. If waits is
	// "", it does not wait.
	waits, says string
}

const byProvider = `{"providerRef":{"name":"NAME"}}`

var vanishings = []vanishing{
	{"S3Bucket", byProvider, provider, forced, "ProviderNotFound", "create it again"},
	{"SQSQueue", byProvider, provider, forced, "ProviderNotFound", "create it again"},
	{"RDSInstance", byProvider, provider, forced, "ProviderNotFound", "create it again"},
	{"EC2Instance", byProvider, provider, forced, "ProviderNotFound", "create it again"},
	{"GatewayHostnameRequest", byProvider, provider, forced, "ProviderNotFound", "create it again"},
	{"S3Bucket", byProvider, provider, closed, "", ""},
	{"GatewayHostnameRequest", byProvider, provider, closed, "", ""},
	{"SQSQueue", `{"deadLetterQueue":{"maxReceiveCount":3,"targetRef":{"name":"NAME"}}}`, queue, nil, "", ""},
	{"RDSInstance", `{"masterUserPasswordSecretRef":{"name":"NAME","key":"value"}}`, secret, nil, "", ""},
	{"EC2Instance", `{"userDataFrom":{"secretKeyRef":{"name":"NAME","key":"value"}}}`, secret, nil, "", ""},
	{"EC2Instance", `{"userDataFrom":{"configMapKeyRef":{"name":"NAME","key":"value"}}}`, config, nil, "", ""},
	{"WebApp", `{"bindings":[{"kind":"SQSQueue","name":"NAME"}]}`, queue, nil, "", ""},
	{"WebApp", `{"envFrom":[{"secretRef":{"name":"NAME"}}]}`, secret, nil, "", ""},
	{"WebApp", `{"envFrom":[{"configMapRef":{"name":"NAME"}}]}`, config, nil, "", ""},
	{"WebApp", `{"expose":{"hostname":"NAME"}}`, hostname, nil, "", ""},
	{"GatewayHostnameRequest", `{"gatewayClass":"NAME"}`, class, nil, "GatewayFailed", "there is no GatewayClass"},
	{"GatewayHostnameRequest", `{"providerRef":{"name":"aws-local"}}`, nothing, ungranted, "", ""},
	{"GatewayHostnameRequest", `{"zoneId":"ZONE"}`, nothing, unzoned, "", ""},
	{"AWSProvider", `{"accessKeyIDRef":{"name":"NAME","key":"id"},"secretAccessKeyRef":{"name":"NAME","key":"secret"}}`, keys, nil, "", ""},
}

func nothing(journey, string) client.Object { return nil }

func secret(j journey, name string) client.Object {
	return &corev1.Secret{ObjectMeta: meta1(j.ns, name), Data: map[string][]byte{"value": []byte("long-enough-1")}}
}

func config(j journey, name string) client.Object {
	return &corev1.ConfigMap{ObjectMeta: meta1(j.ns, name), Data: map[string]string{"value": "true"}}
}

func queue(j journey, name string) client.Object { return j.object("SQSQueue", name, "{}") }

func hostname(j journey, name string) client.Object {
	return j.object("GatewayHostnameRequest", name, "{}")
}

func keys(_ journey, name string) client.Object { return keysOf(name, "test") }

func class(_ journey, name string) client.Object {
	return &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gatewayv1.GatewayClassSpec{
		ControllerName: "gateway.k8s.aws/alb",
	}}
}

// provider returns a provider for the account of the sample provider, which has the hosted zones.
func provider(j journey, name string) client.Object {
	if err := j.c.Create(j.t.Context(), keysOf(name, "test")); client.IgnoreAlreadyExists(err) != nil {
		j.t.Fatal(err)
	}
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *j.keys.Spec.DeepCopy()}
	p.Spec.AccessKeyIDRef.Name, p.Spec.SecretAccessKeyRef.Name, p.Spec.AssumeRoleARN = name, name,
		stack.RoleARN(stack.AccountID)
	return p
}

// forced deletes a provider that is in use.
func forced(j journey, it client.Object, user engine.Object) {
	if err := erase(j.t, j.c, it); err != nil {
		j.t.Fatal(err)
	}
	edit(j.t, j.c, it, func(o client.Object) { o.SetFinalizers(nil) })
	reason(j.t, j.c, user, "ProviderNotFound")
}

// closed makes a provider unusable for all namespaces.
func closed(j journey, it client.Object, user engine.Object) {
	edit(j.t, j.c, it.(*v1alpha1.AWSProvider), func(p *v1alpha1.AWSProvider) { p.Spec.AllowedNamespaces = nil })
	reason(j.t, j.c, user, "ProviderNotAllowed")
}

func ungranted(j journey, _ client.Object, _ engine.Object) {
	grant := &v1alpha1.HostnameGrant{ObjectMeta: meta1(j.ns, v1alpha1.HostnameGrantName)}
	if err := j.c.Delete(j.t.Context(), grant, client.PropagationPolicy(
		metav1.DeletePropagationForeground)); client.IgnoreNotFound(err) != nil {
		j.t.Fatal(err)
	}
}

// unzoned deletes the hosted zone with all its records.
func unzoned(j journey, _ client.Object, user engine.Object) {
	zone := string(user.(*v1alpha1.GatewayHostnameRequest).Spec.ZoneID)
	d := j.domain
	d.zone = zone
	var all []types.Change
	for _, s := range d.sets() {
		if s.Type != types.RRTypeNs && s.Type != types.RRTypeSoa {
			all = append(all, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &s})
		}
	}
	d.change(all...)
	if _, err := d.dns.DeleteHostedZone(context.Background(), &route53.DeleteHostedZoneInput{Id: &zone}); err != nil {
		j.t.Fatal(err)
	}
}

// Objects can be deleted although what they refer to is gone; only without access to the account does a deletion wait,
// and says what for.
func TestWhatWasMadeGoesWithoutWhatItReferredTo(t *testing.T) {
	tiers.Long(t)
	j := newJourney(t)
	its, users := make([]client.Object, len(vanishings)), make([]engine.Object, len(vanishings))
	for i, x := range vanishings {
		name := fmt.Sprintf("%s-vanishing-%d", j.ns, i)
		if its[i] = x.there(j, name); its[i] != nil {
			create(t, j.c, its[i])
		}
		if _, ok := its[i].(*v1alpha1.AWSProvider); ok {
			t.Cleanup(func() { forget(t, j.c, name) })
		}
		spec := strings.ReplaceAll(x.spec, "NAME", name)
		if strings.Contains(spec, "ZONE") {
			spec = strings.ReplaceAll(spec, "ZONE", j.zoneOf(stack.Zone{Domain: fmt.Sprintf("user-%d.%s", i, j.name)}))
		}
		users[i] = j.object(x.kind, fmt.Sprintf("user-%d", i), spec)
		create(t, j.c, users[i])
	}
	for _, user := range users {
		ready(t, j.c, user)
	}
	for i, x := range vanishings {
		t.Run(fmt.Sprintf("%s/%d", x.kind, i), func(t *testing.T) { x.play(t, j, its[i], users[i]) })
	}
	for i, x := range vanishings {
		if x.waits == "" && its[i] != nil {
			gone(t, j.c, its[i])
		}
	}
	j.nothingLeft(t)
}

// vanish deletes what is referred to, as the garbage collector. Its owner cannot delete it while it is in use.
func vanish(t *testing.T, c client.Client, it client.Object) {
	t.Helper()
	collector, err := newCollector()
	if err != nil {
		t.Fatal(err)
	}
	if o, ours := it.(engine.Object); ours {
		awaitMark(t, c, o, 1)
		if err := erase(t, c, it); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "in use") {
			t.Fatalf("deleted while in use: %v", err)
		}
	}
	if err := collector.Delete(t.Context(), it); err != nil {
		t.Fatal(err)
	}
}

func (x vanishing) play(t *testing.T, j journey, it client.Object, user engine.Object) {
	t.Helper()
	j.t = t
	uid := user.GetUID()
	switch {
	case x.gone != nil:
		x.gone(j, it, user)
	default:
		vanish(t, j.c, it)
	}
	if err := erase(t, j.c, user); err != nil {
		t.Fatal(err)
	}
	if x.waits != "" {
		if got := reason(t, j.c, user, x.waits); !strings.Contains(got.Message, x.says) {
			t.Errorf("it waits with %q", got.Message)
		}
		create(t, j.c, x.there(j, it.GetName()))
	}
	awaitGone(t, j.c, user)
	j.lost(t, x.kind, uid)
}

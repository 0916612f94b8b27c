package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// tree returns the object with the objects created for it and those it is bound to, each with its state. Those that are
// not cached are read from the object's status.
func (p *Pages) tree(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) (views.Node, error) {
	seen := map[catalog.Target]bool{{Kind: l.ref.Kind.ID(), Name: l.ref.Name}: true}
	root, err := p.branch(ctx, l, l.ref.Kind, obj, seen, maxDepth)
	if err != nil || !isApp(l.ref.Kind) {
		return root, err
	}
	pods, err := p.Cluster.Pods.List(ctx, l.id, obj)
	hidden := page.Unseen(err)
	if hidden {
		err = nil
	}
	for i := range root.Nodes {
		if root.Nodes[i].Kind == deployment && hidden {
			root.Nodes[i].Nodes = []views.Node{
				{Kind: "Pods", Look: notSeen, Text: "You are not allowed to list Pods here."},
			}
		} else if root.Nodes[i].Kind == deployment {
			root.Nodes[i].Nodes = p.replicaSets(l, pods)
		}
	}
	return root, err
}

// branch returns one of our objects with the objects below it.
func (p *Pages) branch(ctx context.Context, l objectRequest, k catalog.Kind, obj *unstructured.Unstructured,
	seen map[catalog.Target]bool, depth int,
) (views.Node, error) {
	r := page.ResourceOf(l.space, k, obj, p.Now())
	n := views.Node{
		Kind: k.Title, Name: r.Name, Href: r.Href, Text: r.Brief,
		Look: views.PhaseLook(r.Phase), Nodes: made(k, obj),
	}
	for _, ref := range k.Refers {
		for _, t := range ref.Targets(obj) {
			if seen[t] || depth == 0 {
				continue
			}
			seen[t] = true
			kind, other, err := p.targetOf(ctx, l, t)
			switch {
			case apierrors.IsNotFound(err):
				n.Nodes = append(n.Nodes, views.Node{
					Role: ref.Role, Kind: kind.Title, Name: t.Name,
					Look: views.Look{Word: "Not there", Icon: "alert", Tone: "bad"},
				})
				continue
			case err != nil:
				return n, err
			case other == nil:
				n.Nodes = append(n.Nodes, views.Node{
					Role: ref.Role, Kind: kind.Title, Name: t.Name, Look: notSeen,
					Text: "You are not allowed to see it.",
				})
				continue
			}
			below, err := p.branch(ctx, l, kind, other, seen, depth-1)
			if err != nil {
				return n, err
			}
			below.Role = ref.Role
			n.Nodes = append(n.Nodes, below)
		}
	}
	return n, nil
}

const deployment = "Deployment"

// notSeen is the look of an object that the caller cannot see.
var notSeen = views.Look{Word: "Not known", Icon: "wait", Tone: "idle"}

// keeps is an object that the operator manages for one of ours, and the condition with its state.
type keeps struct{ kind, condition string }

// kept are the objects that the operator manages in the cluster, with the name of ours.
var kept = []keeps{
	{deployment, "DeploymentReady"},
	{"Service", "ServiceReady"},
	{"ServiceAccount", "ServiceAccountReady"},
	{"HorizontalPodAutoscaler", "AutoscalerReady"},
	{"PodDisruptionBudget", "DisruptionBudgetReady"},
	{"HTTPRoute", "RouteReady"},
}

// made returns the resources created for an object, from its status.
func made(k catalog.Kind, obj *unstructured.Unstructured) []views.Node {
	f := status.FactsOf(obj)
	var all []views.Node
	add := func(kind, name, condition string) {
		c, ok := f.Find(condition)
		if name == "" || condition != "" && !ok {
			return
		}
		n := views.Node{Kind: kind, Name: name, Look: views.Look{Word: "There", Icon: "check", Tone: "good"}}
		if ok {
			s := stepOf(status.StepOf("", c), time.Time{})
			n.Look, n.Text = views.Look{Word: s.State, Icon: s.Icon, Tone: s.Tone}, s.Text
			if c.True() {
				n.Look.Word, n.Text = "Ready", ""
			}
		}
		all = append(all, n)
	}
	switch {
	case isApp(k):
		for _, one := range kept {
			add(one.kind, obj.GetName(), one.condition)
		}
	case page.IsHostname(k):
		add("Claim", catalog.TextAt(obj, "status", "claim"), v1alpha1.StepClaimed)
		add("Certificate", catalog.TextAt(obj, "status", "certificate", "arn"), "CertificateIssued")
		add("Gateway", catalog.TextAt(obj, "status", "gateway"), "ListenerAttached")
		add("DNS record", catalog.TextAt(obj, "status", "hostname"), "DnsAliasReady")
	default:
		add("In AWS", catalog.TextAt(obj, "status", "arn"), "")
		if f.Lost() && len(all) > 0 {
			all[0].Look, all[0].Text = views.Look{Word: "Gone", Icon: "alert", Tone: "bad"},
				"It was deleted outside Portico."
		}
	}
	add("Secret", catalog.TextAt(obj, "status", "binding", "name"), "")
	return all
}

// replicaSets returns the owners of the Pods, with the Pods below them; the one with the youngest Pod first.
func (p *Pages) replicaSets(l objectRequest, pods []*corev1.Pod) []views.Node {
	var sets []views.Node
	live := map[string][]views.Look{}
	for _, pod := range shown(pods) {
		kind, owner := "Pods", "" // without an owner
		if o := metav1.GetControllerOf(pod); o != nil {
			kind, owner = o.Kind, o.Name
		}
		i := slices.IndexFunc(sets, func(n views.Node) bool { return n.Name == owner })
		if i < 0 {
			sets, i = append(sets, views.Node{Kind: kind, Name: owner, Text: "Version " + tagOf(imageOf(pod)) + "."}),
				len(sets)
		}
		look := podLook(pod, p.Now(), nil)
		if !podcause.Over(pod) {
			live[owner] = append(live[owner], look)
		}
		sets[i].Nodes = append(sets[i].Nodes, views.Node{
			Kind: "Pod", Name: pod.Name, Href: views.PodPath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name, pod.Name),
			Look: look, Text: look.Text,
		})
	}
	for i := range sets {
		sets[i].Look = setLook(live[sets[i].Name])
	}
	slices.SortStableFunc(sets, func(a, b views.Node) int { return cmp.Compare(b.Name, a.Name) })
	return sets
}

// setLook returns how many Pods are ready. Failed ones do not count: they are replaced.
func setLook(pods []views.Look) views.Look {
	ready := 0
	for _, l := range pods {
		if l.Tone == "good" {
			ready++
		}
	}
	look := views.Look{Word: fmt.Sprintf("%d of %d ready", ready, len(pods)), Icon: "check", Tone: "good"}
	if ready < len(pods) {
		look.Icon, look.Tone = "spin", "busy"
	}
	return look
}

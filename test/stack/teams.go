package stack

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// teamsTimeout is the longest time for the operator to reconcile the sample Teams.
const teamsTimeout = time.Minute

// hasTeams reports whether the sample teams are Team objects: an operator reconciles them, and the platform has this
// version. Otherwise their namespaces and roles are plain objects.
func (s *Stack) hasTeams() bool {
	return s.opts.RealNodes > 0 || s.opts.Parts.has(Operator) && !s.opts.Bare && s.opts.Install == nil
}

// teams returns the sample Teams. Their namespaces exist already, and have the labels that assign them to the teams.
func (s *Stack) teams() []*unstructured.Unstructured {
	member := func(group, role string) any { return object{"group": Prefix + group, "role": role} }
	var all []*unstructured.Unstructured
	for name, members := range map[string][]any{
		"payments": {member("team-payments", "Developer"), member("payments-owners", "Owner"), member("viewers", "Viewer")},
		"search":   {member("team-search", "Developer")},
	} {
		spec := object{
			"contact": name + "@portico.test", "members": members,
			"namespaces": []any{object{"name": name}},
		}
		if s.opts.Parts.has(AWS) {
			spec["providers"] = []any{object{"name": Provider}}
		}
		if s.opts.Parts.has(Gateways) {
			spec["hostnames"] = s.grant(name)
		}
		if s.opts.Loopback { // AWS, databases and load balancers are in the network of the Nodes, as in a VPC
			spec["isolation"] = object{"allowTo": []any{gatewayIP + "/32"}, "allowFrom": []any{gatewayIP + "/32"}}
		}
		all = append(all, &unstructured.Unstructured{Object: object{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindTeam, "metadata": object{"name": name},
			"spec": spec,
		}})
	}
	return all
}

// makeTeams creates the sample Teams, or without them the HostnameGrants of their namespaces.
func (s *Stack) makeTeams(ctx context.Context) error {
	switch {
	case s.hasTeams():
		return ApplyObjects(ctx, s.Admin, s.teams()...)
	case s.opts.Parts.has(Gateways):
		return ApplyObjects(ctx, s.Admin, s.grants()...)
	}
	return nil
}

// awaitTeams waits until the sample users have their permissions.
func (s *Stack) awaitTeams(ctx context.Context) error {
	if !s.hasTeams() {
		return nil
	}
	began := time.Now()
	client, err := dynamic.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	teams := client.Resource(v1alpha1.GroupVersion.WithResource("teams"))
	why := ""
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, teamsTimeout, true,
		func(ctx context.Context) (bool, error) {
			list, err := teams.List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			for i := range list.Items {
				if why = notReady(&list.Items[i]); why != "" {
					return false, nil
				}
			}
			return true, nil
		})
	if err != nil {
		return fmt.Errorf("wait for the sample teams, %s: %w", why, err)
	}
	s.say("%-24s ready after %.1f s", "teams", time.Since(began).Seconds())
	return nil
}

// notReady returns why an object is not Ready, "" if it is.
func notReady(obj *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		one, _ := c.(object)
		if one["type"] == v1alpha1.ConditionReady {
			if one["status"] == "True" {
				return ""
			}
			return fmt.Sprintf("%s: %v", obj.GetName(), one["message"])
		}
	}
	return obj.GetName() + " has no condition yet"
}

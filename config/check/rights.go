package check

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// optionalBinding lets the operator read Secrets everywhere; some bind its role in the namespaces of teams instead.
const optionalBinding = "portico-operator-secrets"

// right is what a ServiceAccount must be allowed.
type right struct {
	account string // username
	does    authorizationv1.SubjectAccessReviewSpec
	says    string
}

// rightsGiven asks the API server about every right that config/rbac gives to a ServiceAccount: whoever gives it.
func (c *Cluster) rightsGiven(ctx context.Context) ([]Finding, error) {
	wanted, err := c.rightsWanted()
	if err != nil {
		return nil, err
	}
	missing := map[string][]string{}
	var accounts []string
	for _, r := range wanted {
		allowed, err := c.allows(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("ask who may do what: %w", err)
		}
		if !allowed {
			if missing[r.account] == nil {
				accounts = append(accounts, r.account)
			}
			missing[r.account] = append(missing[r.account], r.says)
		}
	}
	if len(missing) == 0 {
		return []Finding{{State: OK, Says: fmt.Sprintf("all %d are given", len(wanted))}}, nil
	}
	var all []Finding
	for _, account := range accounts {
		all = append(all, Finding{
			State: Lacking, Says: account + " may not " + brief(missing[account]),
			Fix: fixObjects,
		})
	}
	return all, nil
}

func (c *Cluster) allows(ctx context.Context, r right) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SubjectAccessReview"},
		Spec:     r.does,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(review)
	if err != nil {
		return false, err
	}
	got, err := c.objects.Resource(authorizationv1.SchemeGroupVersion.WithResource("subjectaccessreviews")).Create(
		ctx, &object{Object: content}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, review)
	return review.Status.Allowed, err
}

// rightsWanted returns the rights that roles must give to Portico's ServiceAccounts, without those of the optional
// binding.
func (c *Cluster) rightsWanted() ([]right, error) {
	objects, err := c.names.rights()
	if err != nil {
		return nil, err
	}
	rules := map[string][]rbacv1.PolicyRule{} // by namespace and name of the role
	var bindings []rbacv1.RoleBinding
	for _, o := range objects {
		// of which the kinds of the whole cluster have the members too
		role, binding := rbacv1.Role{}, rbacv1.RoleBinding{}
		switch o.GetKind() {
		case "Role", "ClusterRole":
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role)
			rules[role.Namespace+"/"+role.Name] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &binding)
			bindings = append(bindings, binding)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	var all []right
	for i := range bindings {
		if bindings[i].Name != optionalBinding {
			all = append(all, rightsBy(&bindings[i], rules)...)
		}
	}
	return all, nil
}

// rightsBy returns the rights that a binding gives.
func rightsBy(b *rbacv1.RoleBinding, rules map[string][]rbacv1.PolicyRule) (all []right) {
	role := "/" + b.RoleRef.Name
	if b.RoleRef.Kind == "Role" {
		role = b.Namespace + role
	}
	for _, s := range b.Subjects {
		all = append(all, rightsOf("system:serviceaccount:"+s.Namespace+":"+s.Name, b.Namespace, rules[role])...)
	}
	return all
}

func rightsOf(account, namespace string, rules []rbacv1.PolicyRule) (all []right) {
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				all = append(all, right{account, authorizationv1.SubjectAccessReviewSpec{
					User: account, NonResourceAttributes: &authorizationv1.NonResourceAttributes{
						Path: strings.TrimSuffix(url, "*"), Verb: verb,
					},
				}, verb + " " + url})
			}
			all = append(all, rightsOn(account, namespace, verb, rule)...)
		}
	}
	return all
}

func rightsOn(account, namespace, verb string, rule rbacv1.PolicyRule) (all []right) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""} // all
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				resource, sub, _ := strings.Cut(resource, "/")
				all = append(all, right{account, authorizationv1.SubjectAccessReviewSpec{
					User: account, ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub,
						Name: name,
					},
				}, said(verb, group, resource, sub, name, namespace)})
			}
		}
	}
	return all
}

// said returns a right in words.
func said(verb, group, resource, sub, name, namespace string) string {
	text := verb + " " + resource
	if group != "" {
		text += "." + group
	}
	if sub != "" {
		text += "/" + sub
	}
	if name != "" {
		text += " " + name
	}
	if namespace != "" {
		text += " in " + namespace
	}
	return text
}

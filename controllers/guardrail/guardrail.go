// Package guardrail finds the Team of a namespace, and rejects what violates guardrails.
package guardrail

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// TeamOf returns the Team that the namespace belongs to, nil if none: its label has the Team's name, and its annotation
// the Team's UID.
func TeamOf(ctx context.Context, reader client.Reader, ns metav1.Object) (*v1alpha1.Team, error) {
	name, uid := ns.GetLabels()[v1alpha1.LabelTeam], ns.GetAnnotations()[v1alpha1.AnnotationTeamUID]
	if name == "" || uid == "" {
		return nil, nil
	}
	team := &v1alpha1.Team{}
	if found, err := engine.Find(ctx, reader, client.ObjectKey{Name: name}, team); !found || string(team.UID) != uid {
		return nil, err
	}
	return team, nil
}

// Refuse returns an error with all refusals, nil if there are none.
func Refuse(refused []guardrails.Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	var all []string
	for _, r := range refused {
		all = append(all, r.Message)
	}
	return engine.Blocked(v1alpha1.ReasonNotAllowed, "%s. Nothing that breaks the rule is created, and what exists "+
		"already stays", strings.Join(all, ". "))
}

// Fields returns the paths below spec that the refusals concern.
func Fields(refused []guardrails.Refusal) []string {
	var all []string
	for _, r := range refused {
		all = append(all, r.Watch...)
	}
	return all
}

package webapp

import (
	"context"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// problem says why not everything runs as wanted, from the most specific object. Its text is stable: counters,
// back-offs and other parts that differ between tries are omitted, or every try would change the status. The
// application's output is omitted too: it may contain anything, and a reader of the status may have no access to the
// log.
type problem struct {
	reason   string
	known    bool // there is one
	text     string
	stalled  bool      // somebody must act
	starting bool      // a healthy Pod has it too, until it is ready
	until    time.Time // when it may be over although nothing changes; zero: never
}

// The ranks of problems, by how much they matter.
const (
	rankNone = iota
	rankStarting
	rankLost // a Pod that should serve does not
	rankStalled
)

func (p problem) rank() int {
	switch {
	case !p.known:
		return rankNone
	case p.stalled:
		return rankStalled
	case p.starting:
		return rankStarting
	}
	return rankLost
}

// worse returns the worse of two problems, and when either may be over.
func worse(a, b problem) problem {
	until := a.until
	if until.IsZero() || !b.until.IsZero() && b.until.Before(until) {
		until = b.until
	}
	if b.rank() > a.rank() {
		a = b
	}
	a.until = until
	return a
}

// problem checks the Deployment and the wanted version for objects they could not create, then its Pods; it returns the
// worst problem.
func (r *reconciliation) problem(ctx context.Context, s runtimeState) problem {
	if p := s.deploymentProblem(); p.known {
		return p
	}
	set := s.currentReplicaSet()
	if set == nil {
		return problem{}
	}
	if p := replicaSetProblem(set); p.known {
		return p
	}
	pods := s.podsOf(set)
	found := worse(r.podsProblem(ctx, pods), r.missingProblem(s, len(pods)))
	replaced := len(pods) >= int(s.wantedReplicas())
	return worse(found, r.failureProblem(ctx, s.failuresOf(set, r.Now()), replaced))
}

// deploymentProblem returns why the Deployment creates no version.
func (s runtimeState) deploymentProblem() problem {
	d := &s.deployment
	if d.Spec.Paused && d.Status.UpdatedReplicas < s.wantedReplicas() {
		return problem{
			known: true, reason: v1alpha1.ReasonDeploymentPaused, stalled: true,
			text: "the Deployment is paused: kubectl rollout resume deployment/" + d.Name + " lets it go on",
		}
	}
	if c := s.stuckCondition(); c != nil && c.Reason != v1alpha1.ReasonProgressDeadlineExceeded {
		return refusalProblem(c.Reason, c.Message, "the cluster refuses the new version: ")
	}
	return problem{}
}

// replicaSetProblem returns why the API server rejects the version's Pods.
func replicaSetProblem(set *appsv1.ReplicaSet) problem {
	for _, c := range set.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return refusalProblem(c.Reason, c.Message, "the cluster refuses the Pods: ")
		}
	}
	return problem{}
}

func refusalProblem(reason, message, what string) problem {
	// This text follows the name of an object that was never created.
	_, why, ok := strings.Cut(message, " is forbidden: ")
	if !ok {
		why = message
	}
	if quota, ok := strings.CutPrefix(why, "exceeded quota: "); ok {
		return problem{
			known: true, reason: v1alpha1.ReasonQuotaExceeded, stalled: true,
			text: "the quota of the namespace is used up: " + quota,
		}
	}
	return problem{known: true, reason: reason, stalled: true, text: what + why}
}

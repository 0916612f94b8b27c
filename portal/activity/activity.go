// Package activity tells a team what people and tools did through the portal: as Events of Kubernetes about the
// objects, which everybody sees who may list events there, in the portal as with kubectl describe, for as long as the
// cluster keeps Events.
//
// It is no audit log: it is bounded, it may miss something, and it does not tell what was refused. Events have no
// values of fields.
package activity

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/auth"
)

// Controller is what these Events name as their reportingController. The policy portico-activity lets nobody but the
// portal write such ones, and the portal no others.
const Controller = "portico.dev/portal"

// The annotations of these Events, which say who did it.
const (
	// AnnotationActor is the username, as RBAC has it.
	AnnotationActor = "portico.dev/actor"
	// AnnotationActorName is what the identity provider calls the user, who may have chosen it. It is for people.
	AnnotationActorName = "portico.dev/actor-name"
)

// The reasons of Events.
const (
	Created           = "Created"
	Changed           = "Changed"
	Deleted           = "Deleted"
	Kept              = "Kept"
	Restarted         = "Restarted"
	RolledBack        = "RolledBack"
	Paused            = "Paused"
	Resumed           = "Resumed"
	CheckRequested    = "CheckRequested"
	RecreateRequested = "RecreateRequested"
	LogsRead          = "LogsRead"
)

// Deed is one thing that was done: its reason, and words that go after who did it. It has no values of fields.
type Deed struct{ Reason, Words string }

// Object is what somebody did something to.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	UID                               types.UID
}

// ObjectOf returns what obj is.
func ObjectOf(obj *unstructured.Unstructured) Object {
	return Object{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// entry is what is told by one Event, as often as it happens.
type entry struct {
	actor, actorName string
	object           Object
	deed             Deed
}

func entryOf(id auth.Identity, o Object, d Deed) entry {
	e := entry{actor: id.Username, object: o, deed: d}
	if !id.ServiceAccount {
		e.actorName = nameOf(id)
	}
	return e
}

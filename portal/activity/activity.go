// Package activity shows a team what users and tools did through the portal: as Kubernetes Events about the objects,
// visible to everybody with the right to list events there, in the portal as with kubectl describe, for as long as the
// cluster keeps Events.
//
// It is no audit log: it is bounded, it can miss something, and it does not record refused requests. Events have no
// values of fields.
package activity

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/portal/auth"
)

// Controller is the reportingController of these Events. The policy portico-activity allows only the portal to write
// such Events, and the portal no others.
const Controller = "portico.dev/portal"

// The annotations of these Events with the user.
const (
	// AnnotationActor is the username, as in RBAC.
	AnnotationActor = "portico.dev/actor"
	// AnnotationActorName is the user's display name at the identity provider, which the user may have chosen. It is
	// for display only.
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

// Deed is one action: its reason, and the text that follows the user's name. It has no values of fields.
type Deed struct{ Reason, Words string }

// Object is the object of an action.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	UID                               types.UID
}

// ObjectOf returns what obj is.
func ObjectOf(obj *unstructured.Unstructured) Object {
	return Object{
		APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind(), Namespace: obj.GetNamespace(),
		Name: obj.GetName(), UID: obj.GetUID(),
	}
}

// entry identifies the actions that share one Event.
type entry struct {
	actor, actorName string
	object           Object
	deed             Deed
}

func entryOf(id auth.Identity, o Object, d Deed) entry {
	e := entry{actor: id.Username, object: o, deed: d}
	if _, _, deployer := deploy.Parse(id.Username); deployer || !id.ServiceAccount {
		e.actorName = nameOf(id)
	}
	return e
}

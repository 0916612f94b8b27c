// Package rds has what operator and portal both know about databases: the name of a final snapshot, and in which
// databases Portico makes users.
package rds

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// FinalSnapshotName returns the name of the snapshot in which a deletion keeps the data of a database: the one that its
// owner chose, or else the database's identifier in RDS with the start of the object's UID, so that another object of
// the same name finds it free.
func FinalSnapshotName(chosen, identifier string, uid types.UID) string {
	if chosen != "" {
		return chosen
	}
	return identifier + "-final-" + string(uid[:min(8, len(uid))])
}

var enginesWithUsers = []string{"postgres", "mysql", "mariadb"}

// EngineHasUsers reports whether Portico can make users in a database of this engine.
func EngineHasUsers(engine string) bool { return slices.Contains(enginesWithUsers, engine) }

// NoOwnUsers returns why Portico makes no users in the database for people, or "" if it does.
func NoOwnUsers(s *v1alpha1.RDSInstanceSpec) (why string) {
	switch {
	case !EngineHasUsers(s.Engine):
		return "Portico makes no users in the engine " + s.Engine
	case s.ManageMasterUserPassword:
		return "RDS keeps its master password, so Portico cannot sign in to make one"
	case s.ManagementPolicy == v1alpha1.ManagementObserve:
		return "it is only observed"
	}
	return ""
}

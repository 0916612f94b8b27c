package v1alpha1

import "slices"

var enginesWithUsers = []string{"postgres", "mysql", "mariadb"}

// EngineHasUsers reports whether Portico can make users in a database of this engine.
func EngineHasUsers(engine string) bool { return slices.Contains(enginesWithUsers, engine) }

// NoOwnUsers returns why Portico makes no users in the database for people, or "" if it does.
func (s *RDSInstanceSpec) NoOwnUsers() (why string) {
	switch {
	case !EngineHasUsers(s.Engine):
		return "Portico makes no users in the engine " + s.Engine
	case s.ManageMasterUserPassword:
		return "RDS keeps its master password, so Portico cannot sign in to make one"
	case s.ManagementPolicy == ManagementObserve:
		return "it is only observed"
	}
	return ""
}

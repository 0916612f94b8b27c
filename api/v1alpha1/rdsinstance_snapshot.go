package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// FinalSnapshotName returns the name of the snapshot in which a deletion keeps the data of a database: the one that its
// owner chose, or else the database's identifier in RDS with the start of the object's UID, so that another object of
// the same name finds it free.
func FinalSnapshotName(chosen, identifier string, uid types.UID) string {
	if chosen != "" {
		return chosen
	}
	return identifier + "-final-" + string(uid[:min(8, len(uid))])
}

package operatorapi

import (
	"net/url"
	"time"
)

// DeletedPath is the path of the list of what remains in AWS of deleted objects, followed by the namespace.
const DeletedPath = "/inspect/deleted"

// NamespaceDeletedPath returns where that of a namespace is.
func NamespaceDeletedPath(namespace string) string {
	return DeletedPath + "/" + url.PathEscape(namespace)
}

// DeletedList is what AWS still has of deleted objects, sorted by kind and name.
type DeletedList struct {
	Items []Deleted `json:"items"`
	// Problems are the AWS accounts and regions that did not answer, and why: their resources are missing in the items.
	Problems []string `json:"problems,omitempty"`
	// Pending means that AWS has not answered yet: retry in a moment.
	Pending bool `json:"pending,omitempty"`
}

// Deleted is a resource that was kept when its object was deleted, or a snapshot of its data.
type Deleted struct {
	// Kind, Name and UID are those of the object.
	Kind string `json:"kind"`
	Name string `json:"name"`
	UID  string `json:"uid"`
	// ID is what AWS calls it, and Facts are words about it, such as its size.
	ID       string `json:"id"`
	ARN      string `json:"arn"`
	Facts    string `json:"facts,omitempty"`
	Provider string `json:"provider"` // the AWSProvider that leads to it
	Account  string `json:"account"`
	Region   string `json:"region"`
	// Snapshot says that it is a snapshot of the data, taken then, and not the resource itself.
	Snapshot bool       `json:"snapshot,omitempty"`
	Taken    *time.Time `json:"taken,omitempty"`
	// Fields are the values that a request needs to adopt it, by their paths below spec; the name is the same.
	Fields map[string]string `json:"fields,omitempty"`
	// Choose are required fields of which AWS knows nothing any more, such as the size of the machine that a snapshot
	// was taken of.
	Choose []string `json:"choose,omitempty"`
	// NameInUse says that another object of the kind has the name now.
	NameInUse bool `json:"nameInUse,omitempty"`
}

package views

// DeletedList is the page of a team's deleted resources that still exist in AWS, or have a snapshot there.
type DeletedList struct {
	Frame    Frame
	Known    bool // false: the operator does not respond
	Pending  bool // AWS has not responded yet
	Problems []string
	All      []Deleted
}

// Deleted is a resource that was kept when it was deleted, or a snapshot of its data.
type Deleted struct {
	Kind, Icon      string
	Name            string
	ID, Facts       string
	Account, Region string
	Snapshot        bool
	Taken           Moment // snapshots only
	Restore         string // URL of the form that restores it; "" if impossible, or without the right
	NameInUse       bool   // another resource of the kind has the name
}

// restoring returns the label of the link to the form.
func (d Deleted) restoring() string {
	if d.Snapshot {
		return "Restore…"
	}
	return "Manage again…"
}

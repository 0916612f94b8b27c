package views

// DeletedList is the page of what AWS still has of a team's deleted resources.
type DeletedList struct {
	Frame    Frame
	Known    bool // else the operator does not answer
	Pending  bool // AWS has not answered yet
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
	Taken           Moment // of a snapshot
	Restore         string // address of the form that gets it back; "" for nothing, and for those who have no access to it
	NameInUse       bool   // by another resource of the kind
}

// restoring names what the form does.
func (d Deleted) restoring() string {
	if d.Snapshot {
		return "Restore…"
	}
	return "Manage again…"
}

package v1alpha1

import "slices"

// Annotations that an admission policy keeps about who changed a spec last, whatever anybody sends.
const (
	// AnnotationChangedBy is the username.
	AnnotationChangedBy = "portico.dev/changed-by"
	// AnnotationChangedWith is the field manager that the change named, such as kubectl-edit: what the client says of
	// itself. Records of a history have it, too; without it, the way is not known.
	AnnotationChangedWith = "portico.dev/changed-with"
	// AnnotationChangedGeneration is the generation that the change made. If the object has another one, something
	// changed the spec that no policy saw, and who did is not known.
	AnnotationChangedGeneration = "portico.dev/changed-generation"
)

// AnnotationChangedCredential is the ID of the credential by which a deployer changed a spec, as Kubernetes tells it
// admission: its run is recorded by that ID.
const AnnotationChangedCredential = "portico.dev/changed-credential" //nolint:gosec // the name of an annotation

// AnnotationChangedRun is on the ControllerRevisions of a history: the run of the pipeline that changed the spec.
const AnnotationChangedRun = "portico.dev/changed-run"

// WrittenByAdmission reports whether admission policies write the annotation of an object, and nobody else.
func WrittenByAdmission(key string) bool {
	return slices.Contains([]string{
		AnnotationRequestedBy, AnnotationChangedBy, AnnotationChangedWith,
		AnnotationChangedGeneration, AnnotationChangedCredential,
	}, key)
}

// LabelHistoryOf is on the ControllerRevisions that are the history of an object: its UID. Their revision is the
// generation, their data has the spec, and AnnotationChangedBy who made it so, which is missing if that is not known.
const LabelHistoryOf = "portico.dev/history-of"

// Annotations of the ControllerRevisions of a history.
const (
	// AnnotationChangedAt is when the spec was changed, as RFC 3339.
	AnnotationChangedAt = "portico.dev/changed-at"
)

// HistoryLimit is how many ControllerRevisions an object has at most.
const HistoryLimit = 10

// The field managers of what goes through the portal: by its pages, by the REST API, and by the command line.
const (
	ManagerPortal = "portico-portal"
	ManagerAPI    = "portico-api"
	ManagerCLI    = "portico-cli"
)

// ManagerRollback is the field manager of the operator when it sets the image that a rollback asks for.
const ManagerRollback = "portico-rollback"

package v1alpha1

// WebAppBinding names a resource whose connection details the application gets, and says what it may do with it.
// +kubebuilder:validation:XValidation:rule="!has(self.access) || self.kind in ['S3Bucket', 'SNSTopic', 'SQSQueue'] || self.kind == 'RDSInstance' && has(self.user) && self.user == 'Own'",message="access is for buckets, queues and topics, and for databases with user: Own; leave it out: the master user may do everything in a database, and a machine gives no rights"
// +kubebuilder:validation:XValidation:rule="!has(self.user) || self.kind == 'RDSInstance'",message="user is for databases, which have users; leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.access) || self.kind != 'SNSTopic' || self.access != 'Read'",message="nobody reads from a topic: choose Write, or bind a queue that the topic delivers to"
// +kubebuilder:validation:XValidation:rule="!has(self.files) || !has(self.prefix)",message="prefix is of variables, and with files there are none: set files.folder instead"
type WebAppBinding struct {
	// kind of the resource.
	// +required
	Kind BindableKind `json:"kind"`
	// name of the resource, in this namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// prefix of the variables. If left out, it is the resource's name: of an SQSQueue orders the variables are
	// ORDERS_URL, ORDERS_ARN and so on.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// access is what the application may do with a bucket, queue or topic in AWS: Read its objects or messages, Write,
	// or ReadWrite, which counts if nothing is chosen. Who writes to a bucket may delete its objects; a topic is only
	// written to. In a database with user: Own it may Read the tables, Write rows, or ReadWrite, which is both and
	// makes tables of its own.
	// +optional
	Access BindingAccess `json:"access,omitempty"`
	// user is whom the application signs in to a database as. Own is a user that only this application has, a
	// DatabaseUser that Portico makes and drops with the binding. Master, which it is if left out, is the database's
	// master user, who can do everything in it. The portal fills in Own for a new binding where Portico can make users
	// in the database.
	// +optional
	User BindingUser `json:"user,omitempty"`
	// files gives the details as files instead of variables, below $SERVICE_BINDING_ROOT. There is one for each detail,
	// in a folder for each resource, as the Service Binding Specification for Kubernetes says.
	// +optional
	Files *WebAppBindingFiles `json:"files,omitempty"`
}

// BindingUser is whom an application signs in to a database as.
// +kubebuilder:validation:Enum=Own;Master
type BindingUser string

// The users of a database.
const (
	BindingUserOwn    BindingUser = "Own"
	BindingUserMaster BindingUser = "Master"
)

// WebAppBindingFiles are connection details as files.
type WebAppBindingFiles struct {
	// folder below $SERVICE_BINDING_ROOT; if left out, it is the resource's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +optional
	Folder string `json:"folder,omitempty"`
	// onChange is what happens when the details change. Restart, which it is if left out, replaces the Pods one after
	// the other. Reload changes the files and leaves the Pods alone, for an application that reads them again; it takes
	// about a minute.
	// +optional
	OnChange BindingChange `json:"onChange,omitempty"`
}

// BindingChange is what happens when connection details change.
// +kubebuilder:validation:Enum=Restart;Reload
type BindingChange string

// What may happen when connection details change.
const (
	OnChangeRestart BindingChange = "Restart"
	OnChangeReload  BindingChange = "Reload"
)

// BindingAccess is what an application may do with a resource.
// +kubebuilder:validation:Enum=Read;Write;ReadWrite
type BindingAccess string

// The levels of access.
const (
	AccessRead      BindingAccess = "Read"
	AccessWrite     BindingAccess = "Write"
	AccessReadWrite BindingAccess = "ReadWrite"
)

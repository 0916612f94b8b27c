package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseUserSpec is a user of a database.
// +kubebuilder:validation:XValidation:rule="!has(self.passwordRotationDays) || self.authentication == 'Password'",message="with authentication IAM there is no password to rotate: leave passwordRotationDays out"
type DatabaseUserSpec struct {
	// databaseRef names the RDSInstance of this namespace to which the user belongs: PostgreSQL, MySQL or MariaDB.
	// Immutable once it is created.
	// +required
	DatabaseRef LocalRef `json:"databaseRef"`
	// access to the database: Read what is in its tables, Write rows, or ReadWrite, which is both and can create
	// tables, as migrations do.
	// +kubebuilder:default=ReadWrite
	// +optional
	Access BindingAccess `json:"access,omitempty"`
	// authentication is how applications sign in: with a Password that Portico creates, or by IAM, with tokens of AWS
	// and no password. Immutable once it is created.
	// +kubebuilder:default=Password
	// +optional
	Authentication DatabaseAuthentication `json:"authentication,omitempty"`
	// passwordRotationDays is after how many days there is a new password. If left out, only when the annotation
	// portico.dev/rotate-password asks.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=365
	// +optional
	PasswordRotationDays *int32 `json:"passwordRotationDays,omitempty"`
	// expiresAt is when Portico deletes this object, and with it the user: for access that ends. Portico sets it to a
	// day ahead for the users that it requests for people who ask for the password of a database.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// deletionPolicy Delete drops the user from the database, and Retain leaves it there as it is, with its password.
	// Tables that it owns always stay.
	// +kubebuilder:validation:Enum=Delete;Retain
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DatabaseAuthentication is how applications sign in to a database.
// +kubebuilder:validation:Enum=Password;IAM
type DatabaseAuthentication string

// The ways to sign in.
const (
	AuthenticationPassword DatabaseAuthentication = "Password"
	AuthenticationIAM      DatabaseAuthentication = "IAM"
)

// Steps of a DatabaseUser, in order; each is the type of a condition.
const (
	StepDatabaseReached = "DatabaseReached"
	StepUserReady       = "UserReady"
	StepBindingReady    = "BindingReady"
)

// DatabaseUserStatus is the user that the database has.
type DatabaseUserStatus struct {
	CommonStatus `json:",inline"`
	// name that the users in the database begin with. In PostgreSQL it is the role that has the rights and owns what
	// the application makes.
	// +optional
	Name string `json:"name,omitempty"`
	// username that applications sign in with now: one of two, which take turns.
	// +optional
	Username string `json:"username,omitempty"`
	// nextUsername is the user whose new password is about to be published.
	// +optional
	NextUsername string `json:"nextUsername,omitempty"`
	// database in the instance that the user has rights in.
	// +optional
	Database string `json:"database,omitempty"`
	// passwordTime is when the password in use was created.
	// +optional
	PasswordTime *metav1.Time `json:"passwordTime,omitempty"`
	// previousValidUntil is when the password before is taken away; until then, who has not read the new one can sign
	// in.
	// +optional
	PreviousValidUntil *metav1.Time `json:"previousValidUntil,omitempty"`
	// passwordRotation is the value of the annotation portico.dev/rotate-password that was handled last.
	// +optional
	PasswordRotation string `json:"passwordRotation,omitempty"`
	// binding names the Secret with the connection details.
	// +optional
	Binding *Binding `json:"binding,omitempty"`
}

// DatabaseUser is a user of its own in a database of its namespace, for one application, with no more rights than that
// needs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbu,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.spec.databaseRef.name`
// +kubebuilder:printcolumn:name="Access",type=string,JSONPath=`.spec.access`
// +kubebuilder:printcolumn:name="Username",type=string,JSONPath=`.status.username`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.status.binding.name`,priority=1
// +kubebuilder:printcolumn:name="Password",type=date,JSONPath=`.status.passwordTime`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.databaseRef",rule="!has(self.status) || !(has(self.status.name)) || (self.spec.databaseRef == oldSelf.spec.databaseRef)",message="databaseRef is immutable: the user and what it owns would stay behind in the old database; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.authentication",rule="!has(self.status) || !(has(self.status.name)) || (has(self.spec.authentication) == has(oldSelf.spec.authentication) && (!has(self.spec.authentication) || self.spec.authentication == oldSelf.spec.authentication))",message="authentication is immutable: applications that run would be locked out; request a second user beside this one, and delete this one when nothing uses it any more"
type DatabaseUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the user that the team wants.
	// +required
	Spec DatabaseUserSpec `json:"spec"`
	// status is the user that the database has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status DatabaseUserStatus `json:"status,omitempty"`
}

// Reasons of DatabaseUsers.
const (
	ReasonAddressNotAllowed     = "AddressNotAllowed"
	ReasonCertificateNotTrusted = "CertificateNotTrusted"
	ReasonDatabaseRefused       = "DatabaseRefused"
	ReasonExpired               = "Expired" // the time for which it was requested is over
	ReasonEngineNotSupported    = "EngineNotSupported"
	ReasonIAMUnavailable        = "IAMUnavailable"
	ReasonMasterPasswordRefused = "MasterPasswordRefused"
	ReasonMasterPasswordUnknown = "MasterPasswordUnknown"
	ReasonNoDatabase            = "NoDatabase"
	ReasonNoNetworkPath         = "NoNetworkPath"
	ReasonPasswordEnded         = "PasswordEnded" // the earlier password no longer works
	ReasonUserDropped           = "UserDropped"   // the user was dropped from the database
	ReasonUserInUse             = "UserInUse"
	ReasonUserRetained          = "UserRetained" // the user stays in the database
	ReasonWaitingForDatabase    = "WaitingForDatabase"
)

// References returns the database.
func (u *DatabaseUser) References() []ObjectRef {
	return []ObjectRef{{KindRDSInstance, u.Spec.DatabaseRef.Name}}
}

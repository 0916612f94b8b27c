package operatorapi

import (
	"net/url"
	"time"
)

// What the operator does for people, by their own tokens, which it verifies itself: the portal only carries them.
const (
	// PeoplePath begins all of it.
	PeoplePath = "/people/"
	// SecretsPath is where values of Secrets are set, below it by namespace and name.
	SecretsPath = "/people/secrets"
	// RevealPath is where a password is shown once, below it by kind, namespace and name.
	RevealPath = "/people/reveal"

	// HeaderPerson has the token of the person for whom the portal asks.
	HeaderPerson = "Portico-Person"
	// HeaderRequest and HeaderAddress have the ID of the person's request and where it came from, as the portal has
	// them, for the record.
	HeaderRequest = "Portico-Request"
	HeaderAddress = "Portico-Address"

	// LabelSecretValues marks Secrets whose values people set through Portico; others are not touched.
	LabelSecretValues = "portico.dev/secret-values" //nolint:gosec // a label, no secret
	// SecretValues is its value on those, and SecretIndex that on the list of their names.
	SecretValues = "true"
	SecretIndex  = "index"
	// SecretIndexName is the name of the list, in each namespace.
	SecretIndexName = "portico-secret-values"
	// ValuesGroup and ValuesResource are the RBAC resource of rights to set values. There are no such objects, so a
	// right to them allows only what the operator does for it: a user with the right to create Secrets could create one
	// with the token of a ServiceAccount.
	ValuesGroup    = "portico.dev"
	ValuesResource = "secretvalues"
	// DatabaseResource is the RBAC resource of signing in to databases: ReadVerb as one's own user with read access,
	// WriteVerb with write access, and MasterVerb to see the master password. There are no such objects.
	DatabaseResource = "databaseaccess"
	ReadVerb         = "read"
	WriteVerb        = "write"
	MasterVerb       = "master"
	// AsMaster is the query parameter of a path of RevealPath by which the master password is asked for.
	AsMaster = "master"
	// AnnotationValuesSet on a Secret has when each of its keys was set, and by whom, as JSON.
	AnnotationValuesSet = "portico.dev/values-set"

	// MaxSecret is how many bytes the values of one Secret have at most, as in Kubernetes.
	MaxSecret = 1 << 20
	// MaxSecretKeys is how many keys one has, and MaxSecrets how many a namespace has.
	MaxSecretKeys = 100
	MaxSecrets    = 200
	// MaxSecretRequest bounds a request: values come in base64.
	MaxSecretRequest = 2 << 20
)

// NamespaceSecretsPath returns where the Secrets of a namespace are listed.
func NamespaceSecretsPath(namespace string) string {
	return SecretsPath + "/" + url.PathEscape(namespace)
}

// SecretPath returns where the values of one Secret are set.
func SecretPath(namespace, name string) string {
	return NamespaceSecretsPath(namespace) + "/" + url.PathEscape(name)
}

// PasswordPath returns where the password of an object is shown.
func PasswordPath(kind, namespace, name string) string {
	return RevealPath + "/" + url.PathEscape(kind) + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// SecretList has the Secrets of one namespace whose values people set, sorted by name.
type SecretList struct {
	Items []Secret `json:"items"`
}

// Secret is one of them, without its values.
type Secret struct {
	Name    string      `json:"name"`
	Created time.Time   `json:"created"`
	Keys    []SecretKey `json:"keys"` // sorted
	// UsedBy are the objects whose spec names it, as far as the caller can list them.
	UsedBy []SecretUse `json:"usedBy,omitempty"`
}

// SecretKey is a key of a Secret.
type SecretKey struct {
	Name string `json:"name"`
	// SetAt is when it was set through Portico, and SetBy by whom; absent if it was set in another way.
	SetAt *time.Time `json:"setAt,omitempty"`
	SetBy string     `json:"setBy,omitempty"`
}

// SecretUse is an object whose spec names a Secret.
type SecretUse struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Effect says when the object takes a new value.
	Effect string `json:"effect"`
}

// SecretChange is what becomes of the keys that it names; the others stay.
type SecretChange struct {
	Set    map[string][]byte `json:"set,omitempty"`
	Remove []string          `json:"remove,omitempty"`
}

// Password is what a user needs to connect to an object's resource.
type Password struct {
	Password string `json:"password"`
	Username string `json:"username,omitempty"`
	Host     string `json:"host,omitempty"`
	Port     string `json:"port,omitempty"`
	Database string `json:"database,omitempty"`
	// Type is that of the binding, such as postgresql.
	Type string `json:"type,omitempty"`
	// Access is what a person's own user may do in the database: Read or ReadWrite. Empty for the passwords of others.
	Access string `json:"access,omitempty"`
	// ExpiresAt is when that user is dropped.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
}

// DatabaseWords say what the verbs of DatabaseResource allow.
var DatabaseWords = map[string]string{
	ReadVerb: "sign in to databases", WriteVerb: "write in databases", MasterVerb: "see master passwords",
}

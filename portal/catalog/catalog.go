// Package catalog reads the kinds that Portico offers, and their forms, from CRDs and their CatalogEntries.
//
// Inputs are named by their Kubernetes path (spec.encryption.kmsKeyID, spec.lifecycleRules[0].expirationDays), so that
// the API server's field errors can be shown beside the right input.
package catalog

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// AppKind is the name of the kind that runs in Pods.
const AppKind = "WebApp"

// KeptByOperator is the value of Kind.KeptBy for kinds whose objects only the operator creates.
const KeptByOperator = "operator"

// Kind is the portal's description of a custom resource.
type Kind struct {
	Resource schema.GroupVersionResource
	Name     string // of the kind, e.g. S3Bucket
	// Plural is the plural name, e.g. s3buckets, and of kinds of others with their group, as kubectl takes it:
	// buckets.s3.services.k8s.aws. It is unique, and the path element in URLs.
	Plural     string
	ShortNames []string
	Namespaced bool
	Title      string // for people, e.g. Bucket
	Icon       string // name of an icon, "" for the default one
	Help       string // what the kind is, from the CRD
	Columns    []Column
	Overview   []string // names of the columns that an object's page also shows
	Endpoint   string   // JSONPath of the address that users connect to, "" if none
	Deletion   Deletion
	Refers     []Reference // to objects of the same namespace
	LetsIn     []Reference // the same, for optional objects, such as the topics that can send to a queue
	Changes    []Change    // side effects of changing a field
	Begins     []Value     // initial values of a new object's form
	Names      []string    // fields with unique values, which a copy of an object must not keep
	Steps      []Step      // conditions on the way to Ready, in order, without Ready itself
	Sections   []Section   // of the form; none: one list of fields
	People     []string    // paths, as in Field.Path, of fields with Kubernetes users and groups
	// Offers are the fields of spec for which an AWS account offers values, each with the fields on which these depend,
	// in addition to the account and the region.
	Offers map[string][]string
	// Whole are those of them for which the account's list is complete: other values cannot be used.
	Whole []string
	// Says are the clauses of the sentence that describes an object.
	Says []Clause
	// Fixed is the beginning of a sentence that says why an object never changes and what to do instead; "" if it can
	// change.
	Fixed string
	// States say when an object of a kind of others is ready or has failed; nil: its conditions follow kstatus.
	States *v1alpha1.CatalogStates
	// Controller keeps the objects of a kind of others; nil for Portico's own.
	Controller *v1alpha1.CatalogController
	Hidden     bool     // not offered to anybody
	Verbs      []string // what can be done with objects; none: all
	// KeptBy is who creates objects of the kind, if not teams: operator or admins.
	KeptBy string

	spec, status []string // names of the fields
	hasStatus    bool
	source       *source
	origin       *origin
}

// Change is the effect of changing any of these fields of spec, as a sentence.
type Change struct {
	Fields []string
	Effect string
	Lower  bool // applies only if a number becomes smaller
}

// Step is a condition type that an object gets when a part of the work for it is done.
type Step struct {
	Type     string
	Title    string // for people
	Optional bool   // depends on the object's spec
}

// Section is a part of a form with its own heading.
type Section struct {
	Title  string
	Fields []string // names of fields of spec
	Folded bool     // shown on demand: it has sensible defaults
}

// Deletion describes what the deletion policy Delete means for a kind.
type Deletion struct {
	Deleted string // a few words, such as "deleted from AWS, if empty"
	// Effect is a sentence about how data is protected from loss; if empty, it is not, and LossyEffect says so. For a
	// kind without deletion policies it is the effect of deleting.
	Effect string
	Lossy  string // the boolean of spec that allows data loss, such as forceDestroy
	// LossyEffect is what is lost if Lossy is set, or if nothing protects the data.
	LossyEffect string
	// Protects is the boolean of spec that makes AWS refuse a deletion, "" if the kind has none.
	Protects string
	// Counts are the fields of spec that can be edited while the object is being deleted; a single * means all.
	Counts []string
}

// Word returns a name of the kind on the command line that no other kind has: web-app, or of kinds of others the
// plural.
func (k Kind) Word() string {
	if !k.Own() {
		return k.Plural
	}
	return strings.ToLower(strings.ReplaceAll(k.Title, " ", "-"))
}

// Noun returns the kind's name within a sentence: web app.
func (k Kind) Noun() string { return spoken.Lower(k.Title) }

// GVK returns the kind's group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.Resource.GroupVersion().WithKind(k.Name) }

// Own reports whether the kind is Portico's.
func (k Kind) Own() bool { return k.Resource.Group == v1alpha1.GroupVersion.Group }

// ID returns the kind's name, and of kinds of others with their group: it is unique.
func (k Kind) ID() string {
	if k.Own() {
		return k.Name
	}
	return k.Name + "." + k.Resource.Group
}

// Written reports whether users write objects of the kind over the REST API: those that teams request, and
// cluster-scoped ones that admins manage.
func (k Kind) Written() bool { return k.KeptBy == "" || k.KeptBy != KeptByOperator && !k.Namespaced }

// Has reports whether the kind is Portico's and its spec has the field: kinds of others can have a field of the same
// name that means something else.
func (k Kind) Has(name string) bool {
	return k.Own() && slices.Contains(k.spec, name)
}

// Chooses reports whether value is an option of spec's field of that name, and not its default.
func (k Kind) Chooses(name, value string) bool {
	return slices.ContainsFunc(k.Fields(), func(f Field) bool {
		return f.Name == name && value != f.Default && slices.Contains(f.Options, value)
	})
}

// Tells reports whether the kind is Portico's and its status has the field.
func (k Kind) Tells(name string) bool { return k.Own() && slices.Contains(k.status, name) }

// HasStatus reports whether objects of the kind have a status.
func (k Kind) HasStatus() bool { return k.hasStatus }

// Allows reports whether the kind's entry allows the verb.
func (k Kind) Allows(verb string) bool { return len(k.Verbs) == 0 || slices.Contains(k.Verbs, verb) }

// Fields returns the fields of spec: those that the entry has first, then the rest; each in the entry's order. They are
// made from the schema unless they have been used lately, and callers must not change them.
func (k Kind) Fields() []Field { return k.source.unpacked().fields }

// Schema returns the kind's OpenAPI v3 schema, as JSON.
func (k Kind) Schema() ([]byte, error) { return k.source.schema() }

// SchemaSize returns the number of bytes of Schema.
func (k Kind) SchemaSize() int {
	if k.source == nil {
		return 0
	}
	return k.source.size
}

// Catalog is every kind, sorted by title.
type Catalog []Kind

// ByPlural returns the kind with the plural name.
func (c Catalog) ByPlural(plural string) (Kind, bool) {
	for i := range c { // copying a Kind for each comparison would be slow
		if c[i].Plural == plural {
			return c[i], true
		}
	}
	return Kind{}, false
}

// ByName returns the kind with that ID: S3Bucket of Portico, Issuer.cert-manager.io of others. An object's kind alone
// is not enough, because kinds of two groups can have the same name: ByGroupKind finds that.
func (c Catalog) ByName(id string) (Kind, bool) {
	name, group, others := strings.Cut(id, ".")
	if !others {
		group = v1alpha1.GroupVersion.Group
	}
	return c.ByGroupKind(schema.GroupKind{Group: group, Kind: name})
}

// ByGroupKind returns the kind with the group and the name.
func (c Catalog) ByGroupKind(of schema.GroupKind) (Kind, bool) {
	for i := range c {
		if c[i].Name == of.Kind && c[i].Resource.Group == of.Group {
			return c[i], true
		}
	}
	return Kind{}, false
}

// Requestable returns the kinds that teams request: the namespaced ones that are Offered.
func (c Catalog) Requestable() Catalog { return c.Namespaced(true).Offered() }

// Namespaced returns the namespaced kinds or, if namespaced is false, the cluster-scoped ones. The result is shared.
func (c Catalog) Namespaced(namespaced bool) Catalog {
	if namespaced {
		return c.part("namespaced", func(k Kind) bool { return !k.Namespaced })
	}
	return c.part("wide", func(k Kind) bool { return k.Namespaced })
}

// Offered returns the kinds of which users create objects in the portal; objects of the others are read-only. The
// result is shared.
func (c Catalog) Offered() Catalog {
	return c.part("offered", func(k Kind) bool { return k.KeptBy != "" })
}

// parts caches parts of catalogs, by partKey. Every page and every stream needs several, and a Kind takes a kilobyte.
var parts sync.Map

type partKey struct {
	first *Kind
	n     int
	what  string
}

// part returns the catalog without the kinds for which drop returns true.
func (c Catalog) part(what string, drop func(Kind) bool) Catalog {
	if len(c) == 0 {
		return nil
	}
	key := partKey{&c[0], len(c), what}
	if known, ok := parts.Load(key); ok {
		return known.(Catalog)
	}
	one, _ := parts.LoadOrStore(key, slices.Clip(slices.DeleteFunc(slices.Clone(c), drop)))
	return one.(Catalog)
}

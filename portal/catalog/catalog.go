// Package catalog reads the kinds that Portico offers, and their forms, from the CRDs alone.
//
// Inputs are named by their Kubernetes path (spec.encryption.kmsKeyID, spec.lifecycleRules[0].expirationDays), so that
// the API server's field errors can be shown beside the right input.
package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/spoken"
)

const prefix = "portico.dev/"

// AppKind is the name of the kind that runs in Pods.
const AppKind = "WebApp"

// KeptByOperator is the value of Kind.KeptBy for kinds whose objects only the operator creates.
const KeptByOperator = "operator"

// Kind is the portal's description of a custom resource.
type Kind struct {
	Resource   schema.GroupVersionResource
	Name       string // of the kind, e.g. S3Bucket
	Plural     string // e.g. s3buckets; the path element in URLs
	ShortNames []string
	Namespaced bool
	Title      string  // for people, e.g. Bucket
	Icon       string  // name of an icon, "" for the default one
	Help       string  // what the kind is, from the CRD
	Fields     []Field // of spec: those of the form annotation, then the rest; each in the annotation's order
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
	// KeptBy is who creates objects of the kind, if not teams: operator or admins.
	KeptBy string

	status []string               // names of the fields of status
	refers string                 // annotation from which Refers is read
	letsIn string                 // annotation from which LetsIn is read
	rules  apiext.ValidationRules // of the object as a whole
	schema []byte                 // the kind's OpenAPI v3 schema as JSON
	shape  *shape                 // of the fields that users write
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

// Word returns the kind's name on the command line: web-app.
func (k Kind) Word() string { return strings.ToLower(strings.ReplaceAll(k.Title, " ", "-")) }

// Noun returns the kind's name within a sentence: web app.
func (k Kind) Noun() string { return spoken.Lower(k.Title) }

// GVK returns the kind's group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.Resource.GroupVersion().WithKind(k.Name) }

// Written reports whether users write objects of the kind over the REST API: those that teams request, and
// cluster-scoped ones that admins manage.
func (k Kind) Written() bool { return k.KeptBy == "" || k.KeptBy != KeptByOperator && !k.Namespaced }

// Has reports whether spec has a field of this name.
func (k Kind) Has(name string) bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Name == name })
}

// Chooses reports whether value is an option of spec's field of that name, and not its default.
func (k Kind) Chooses(name, value string) bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool {
		return f.Name == name && value != f.Default && slices.Contains(f.Options, value)
	})
}

// Tells reports whether status has a field of this name.
func (k Kind) Tells(name string) bool { return slices.Contains(k.status, name) }

// Schema returns the kind's OpenAPI v3 schema, as JSON.
func (k Kind) Schema() []byte { return slices.Clone(k.schema) }

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

// ByName returns the kind with the name, e.g. S3Bucket.
func (c Catalog) ByName(name string) (Kind, bool) {
	for i := range c {
		if c[i].Name == name {
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

// Load reads all CRD manifests in files (bases/*.yaml). Each CRD must serve exactly one version.
func Load(files fs.FS) (Catalog, error) {
	names, err := fs.Glob(files, "bases/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing CRDs: %w", err)
	}
	var kinds Catalog
	for _, name := range names {
		k, err := loadKind(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading CRD %s: %w", name, err)
		}
		kinds = append(kinds, k)
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("no CRDs under bases/")
	}
	for i, k := range kinds {
		if kinds[i].Refers, err = kinds.references(k, k.refers); err != nil {
			return nil, fmt.Errorf("reading CRD of %s: %w", k.Plural, err)
		}
		if kinds[i].LetsIn, err = kinds.lets(k); err != nil {
			return nil, fmt.Errorf("reading CRD of %s: %w", k.Plural, err)
		}
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return cmp.Compare(a.Title, b.Title) })
	return kinds, nil
}

func loadKind(files fs.FS, name string) (Kind, error) {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return Kind{}, err
	}
	var crd apiext.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(b, &crd); err != nil {
		return Kind{}, err
	}
	return newKind(&crd)
}

// deletionOf reads the annotations about the deletion of a kind.
func deletionOf(notes map[string]string) Deletion {
	return Deletion{
		Deleted: notes[prefix+"deleted"], Effect: notes[prefix+"deleted-effect"],
		Lossy: notes[prefix+"lossy"], LossyEffect: notes[prefix+"lossy-effect"],
		Protects: notes[prefix+"protects"], Counts: listed(notes[prefix+"while-deleting"]),
	}
}

func newKind(crd *apiext.CustomResourceDefinition) (Kind, error) {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiext.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 || crd.Spec.Versions[i].Schema == nil || crd.Spec.Versions[i].Schema.OpenAPIV3Schema == nil {
		return Kind{}, fmt.Errorf("no stored version with a schema")
	}
	v := crd.Spec.Versions[i]
	root := v.Schema.OpenAPIV3Schema
	raw, err := jsonSchema(root)
	if err != nil {
		return Kind{}, err
	}
	spec := root.Properties["spec"]
	k := Kind{
		Resource:   schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural},
		Name:       crd.Spec.Names.Kind,
		Plural:     crd.Spec.Names.Plural,
		ShortNames: crd.Spec.Names.ShortNames,
		Namespaced: crd.Spec.Scope == apiext.NamespaceScoped,
		Title:      cmp.Or(crd.Annotations[prefix+"title"], crd.Spec.Names.Kind),
		Icon:       crd.Annotations[prefix+"icon"],
		Help:       oneLine(root.Description),
		Fields:     specFields(spec, listed(crd.Annotations[prefix+"form"]), listed(crd.Annotations[prefix+"order"])),
		Columns:    columns(v.AdditionalPrinterColumns),
		Overview:   listed(crd.Annotations[prefix+"overview"]),
		Endpoint:   crd.Annotations[prefix+"endpoint"],
		status:     slices.Sorted(maps.Keys(root.Properties["status"].Properties)),
		refers:     crd.Annotations[prefix+"refers"],
		letsIn:     crd.Annotations[prefix+"lets-in"],
		KeptBy:     crd.Annotations[prefix+"kept-by"],
		rules:      root.XValidations,
		Fixed:      neverChanges(spec.XValidations),
		Deletion:   deletionOf(crd.Annotations),
		schema:     raw,
	}
	fixRoot(k.Fields, root.XValidations)
	k.readForm(crd.Annotations)
	k.shape, err = shapeOf(root)
	return k, err
}

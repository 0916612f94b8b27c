// Package catalog knows the kinds that Portico offers, and their forms, from the CRDs alone.
//
// Inputs are named by their Kubernetes path (spec.encryption.kmsKeyID, spec.lifecycleRules[0].expirationDays), so that
// the API server's field errors land beside the right input.
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

// KeptByOperator is Kind.KeptBy of kinds of which nobody makes objects by hand.
const KeptByOperator = "operator"

// Kind is what the portal knows of one custom resource.
type Kind struct {
	Resource   schema.GroupVersionResource
	Name       string // of the kind, e.g. S3Bucket
	Plural     string // e.g. s3buckets; the path element in URLs
	ShortNames []string
	Namespaced bool
	Title      string  // for people, e.g. Bucket
	Icon       string  // name of an icon, "" for the default one
	Help       string  // what the kind is, from the CRD
	Fields     []Field // of spec: those that the form annotation lists, then the rest; both in the order of the annotations
	Columns    []Column
	Overview   []string // names of the columns that the page of an object shows, too
	Endpoint   string   // JSONPath of what users connect to, "" if nothing
	Deletion   Deletion
	Refers     []Reference // to objects of the same namespace
	LetsIn     []Reference // the same, to those that it works without, such as the topics that may send to a queue
	Changes    []Change    // what changing a field does besides changing the object
	Begins     []Value     // what the form of a new object has in its fields
	Names      []string    // of fields that name what nobody else may have: another object needs other ones
	Steps      []Step      // in which an object becomes ready, in order; Ready itself is none
	Sections   []Section   // in which the form asks for it; none: one after the other
	People     []string    // paths, as Field.Path writes them, of fields that name users and groups as Kubernetes knows them
	// Offers are the fields of spec for which an AWS account has values, each with the fields that decide which,
	// besides the account and the region.
	Offers map[string][]string
	// Whole are those of them of which the account's list has all that there is: what it lacks cannot be used.
	Whole []string
	// Says are the clauses of a sentence that says what an object is.
	Says []Clause
	// Fixed is why an object never changes, as a sentence begins that says what to do instead; "": it can.
	Fixed string
	// KeptBy says who makes objects of the kind, where teams do not: operator or admins.
	KeptBy string

	status []string               // names of the fields of status
	refers string                 // the annotation that Refers is read from
	letsIn string                 // the annotation that LetsIn is read from
	rules  apiext.ValidationRules // of the object as a whole
	schema []byte                 // the kind's OpenAPI v3 schema as JSON
	shape  *shape                 // of what users write
}

// Change is what changing any of these fields of spec does, as a sentence.
type Change struct {
	Fields []string
	Effect string
	Lower  bool // only a number that may become smaller does it
}

// Step is the type of a condition that an object gets when a part of the work for it is done.
type Step struct {
	Type     string
	Title    string // for people
	Optional bool   // some objects have it, by their spec
}

// Section is a part of a form with a heading of its own.
type Section struct {
	Title  string
	Fields []string // names of fields of spec
	Folded bool     // shown on demand: it has sensible defaults
}

// Deletion is what the deletion policy Delete means for a kind, in words.
type Deletion struct {
	Deleted string // a few words, such as "deleted from AWS, if empty"
	// Effect is a sentence: how data is kept from loss; empty, it is not, and LossyEffect says so. Of a kind without
	// deletion policies it is what deleting does.
	Effect string
	Lossy  string // the boolean of spec that gives data up, such as forceDestroy
	// LossyEffect is what is lost where Lossy is set, or where nothing keeps it.
	LossyEffect string
	// Protects is the boolean of spec with which AWS refuses a deletion, "" if the kind has none.
	Protects string
	// Counts are the fields of spec that an edit can change while the object is being deleted; a lone * stands for all.
	Counts []string
}

// Word returns what the kind is called on the command line: web-app.
func (k Kind) Word() string { return strings.ToLower(strings.ReplaceAll(k.Title, " ", "-")) }

// Noun returns what the kind is called within a sentence: web app.
func (k Kind) Noun() string { return spoken.Lower(k.Title) }

// GVK returns the kind's group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.Resource.GroupVersion().WithKind(k.Name) }

// Written reports whether people write objects of the kind over the REST API: those that they request, and those of the
// platform that admins keep.
func (k Kind) Written() bool { return k.KeptBy == "" || k.KeptBy != KeptByOperator && !k.Namespaced }

// Has reports whether spec has a field of this name.
func (k Kind) Has(name string) bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Name == name })
}

// Chooses reports whether value can be chosen in spec's field of that name, and is not what it is anyway.
func (k Kind) Chooses(name, value string) bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Name == name && value != f.Default && slices.Contains(f.Options, value) })
}

// Tells reports whether status has a field of this name.
func (k Kind) Tells(name string) bool { return slices.Contains(k.status, name) }

// Schema returns the kind's OpenAPI v3 schema, as JSON.
func (k Kind) Schema() []byte { return slices.Clone(k.schema) }

// Catalog is every kind, sorted by title.
type Catalog []Kind

// ByPlural finds a kind by its plural name.
func (c Catalog) ByPlural(plural string) (Kind, bool) {
	for i := range c { // a Kind is too large to be copied for each comparison
		if c[i].Plural == plural {
			return c[i], true
		}
	}
	return Kind{}, false
}

// ByName finds a kind by its name, e.g. S3Bucket.
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

// Namespaced returns the kinds that live in namespaces or, if namespaced is false, those that do not. It is shared.
func (c Catalog) Namespaced(namespaced bool) Catalog {
	if namespaced {
		return c.part("namespaced", func(k Kind) bool { return !k.Namespaced })
	}
	return c.part("wide", func(k Kind) bool { return k.Namespaced })
}

// Offered returns the kinds of which people create objects in the portal; objects of the others can only be looked at.
// It is shared.
func (c Catalog) Offered() Catalog {
	return c.part("offered", func(k Kind) bool { return k.KeptBy != "" })
}

// parts are the parts of catalogs that were asked for, by partKey. Every page and every stream needs several, and a
// Kind takes a kilobyte.
var parts sync.Map

type partKey struct {
	first *Kind
	n     int
	what  string
}

// part returns the catalog without what drop tells.
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

// Load reads every CRD manifest in files, which holds bases/*.yaml. Each CRD must serve exactly one version.
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

// deletionOf reads what the annotations of a kind say of its deletion.
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

package catalog

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// unpacked is what forms, checks and documents need of a kind. It takes some 12 times the memory of the schema, so that
// a kind keeps only its schema, compressed, and makes this when it is needed.
type unpacked struct {
	fields []Field                // of spec
	rules  apiext.ValidationRules // of the object as a whole
	shape  *shape                 // of the fields that users write
	schema []byte                 // OpenAPI v3, as JSON
}

// unpack reads a schema. The fields that first names come first, and those that rest names follow in its order.
func unpack(root *apiext.JSONSchemaProps, schema []byte, first, rest order) *unpacked {
	d := &unpacked{fields: specFields(root.Properties["spec"], first, rest), rules: root.XValidations, schema: schema}
	fixRoot(d.fields, root.XValidations)
	d.shape = shapeOf(root)
	return d
}

// source keeps the schema of a kind compressed, and unpacks it on demand. A nil source has an empty schema.
type source struct {
	packed      []byte // the schema as JSON, compressed
	size        int    // of the schema, in bytes
	first, rest order

	making sync.Mutex    // one at a time
	made   *unpacked     // guarded by the shelf
	place  *list.Element // on the shelf; nil: it is not there
}

// newSource compresses a schema, and also returns it unpacked, which it does not keep.
func newSource(root *apiext.JSONSchemaProps, first, rest order) (*source, *unpacked, error) {
	schema, err := json.Marshal(root)
	if err != nil {
		return nil, nil, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(schema) // a buffer takes everything
	_ = w.Close()
	s := &source{packed: bytes.Clone(packed.Bytes()), size: len(schema), first: first, rest: rest}
	return s, unpack(root, schema, first, rest), nil
}

// unpacked returns the unpacked schema. Callers must not change it.
func (s *source) unpacked() *unpacked {
	if s == nil {
		return &unpacked{}
	}
	if d := shelved.find(s); d != nil {
		return d
	}
	s.making.Lock()
	defer s.making.Unlock()
	if d := shelved.find(s); d != nil { // somebody else has just made it
		return d
	}
	d, err := s.make()
	if err != nil {
		panic(fmt.Sprintf("a schema that could be read before: %v", err)) // newSource has made the same
	}
	shelved.put(s, d)
	return d
}

// schema returns the schema as JSON.
func (s *source) schema() ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(s.packed))
	if err != nil {
		return nil, err
	}
	schema := make([]byte, s.size)
	_, err = io.ReadFull(r, schema)
	return schema, err
}

func (s *source) make() (*unpacked, error) {
	schema, err := s.schema()
	if err != nil {
		return nil, err
	}
	root := &apiext.JSONSchemaProps{}
	if err := json.Unmarshal(schema, root); err != nil {
		return nil, err
	}
	return unpack(root, schema, s.first, s.rest), nil
}

// shelf keeps the unpacked schemas that were used last. It counts the bytes of the schemas themselves.
type shelf struct {
	most   int // bytes
	fewest int // that stay whatever their size

	mu   sync.Mutex
	used int       // bytes
	uses list.List // of *source, those used last in front
}

// shelved is the process's shelf: the kinds of all catalogs share its memory. What is made of a schema takes some 12
// times its size, and the schemas of Portico's own kinds have 0.3 MB.
var shelved = &shelf{most: 2 << 20, fewest: 4}

// find returns the unpacked schema of s; nil if it is not on the shelf.
func (f *shelf) find(s *source) *unpacked {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.place != nil {
		f.uses.MoveToFront(s.place)
	}
	return s.made
}

// put keeps the unpacked schema of s, and drops those that were not used for longest. The last few stay whatever their
// size, for requests that need several of the largest.
func (f *shelf) put(s *source, d *unpacked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.place == nil {
		s.place = f.uses.PushFront(s)
		f.used += s.size
	}
	s.made = d
	for f.used > f.most && f.uses.Len() > f.fewest {
		oldest := f.uses.Remove(f.uses.Back()).(*source) //nolint:forcetypeassert // there is nothing else
		oldest.made, oldest.place = nil, nil
		f.used -= oldest.size
	}
}

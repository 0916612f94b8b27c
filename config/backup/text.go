package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// header is the document before the objects. Kubernetes does not have its kind, so that kubectl apply of the whole
// file, in the wrong order, fails.
type header struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	ClusterID  string   `json:"clusterID"`
	Secrets    []string `json:"secrets,omitempty"`
}

const (
	headerVersion = "backup.portico.dev/v1"
	headerKind    = "Backup"
)

// Write writes the backup as YAML documents.
func (b *Backup) Write(w io.Writer) error {
	documents := []any{header{headerVersion, headerKind, b.ClusterID, b.Secrets}}
	for _, o := range b.Objects {
		documents = append(documents, o.Object)
	}
	for _, d := range documents {
		text, err := yaml.Marshal(d)
		if err != nil {
			return fmt.Errorf("write the backup: %w", err)
		}
		if _, err := w.Write(append([]byte("---\n"), text...)); err != nil {
			return fmt.Errorf("write the backup: %w", err)
		}
	}
	return nil
}

var errNoName = errors.New("it has no name")

var errNoBackup = errors.New("that is no backup of Portico: it does not begin with the document of kind Backup that " +
	"portico backup writes")

// Read parses the output of Write. It refuses objects of kinds that a backup does not contain.
func Read(r io.Reader) (*Backup, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(r))
	var made *Backup
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the backup: %w", err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if made == nil {
			made, err = readHeader(text)
		} else {
			err = made.add(text)
		}
		if err != nil {
			return nil, err
		}
	}
	if made == nil {
		return nil, errNoBackup
	}
	return made, made.sort()
}

func readHeader(text []byte) (*Backup, error) {
	var h header
	if err := yaml.Unmarshal(text, &h); err != nil || h.Kind != headerKind || h.ClusterID == "" {
		return nil, errNoBackup
	}
	if h.APIVersion != headerVersion {
		return nil, fmt.Errorf("the backup is of the format %s, and this portico reads %s: use the portico that "+
			"wrote it", h.APIVersion, headerVersion)
	}
	return &Backup{ClusterID: h.ClusterID, Secrets: h.Secrets}, nil
}

func (b *Backup) add(text []byte) error {
	o := &object{}
	raw, err := yaml.YAMLToJSON(text)
	if err == nil {
		err = o.UnmarshalJSON(raw) // it keeps whole numbers whole
	}
	if err != nil || o.GetName() == "" {
		return fmt.Errorf("read the backup: document %d is no object: %w", len(b.Objects)+2, cmp.Or(err, errNoName))
	}
	b.Objects = append(b.Objects, o)
	return nil
}

// sort sorts the objects, in case the file was edited.
func (b *Backup) sort() error {
	known, err := kinds()
	if err != nil {
		return err
	}
	for _, o := range b.Objects {
		if _, ok := find(known, o); !ok {
			return fmt.Errorf("the backup has %s, which no backup of Portico has: take it out, or use the portico "+
				"that wrote it", nameOf(o))
		}
	}
	slices.SortStableFunc(b.Objects, func(x, y *object) int {
		one, _ := find(known, x)
		other, _ := find(known, y)
		return cmp.Compare(one.rank(), other.rank())
	})
	return nil
}

// find returns the kind of an object.
func find(known []kind, o *object) (kind, bool) {
	at := slices.IndexFunc(known, func(k kind) bool {
		return k.name == o.GetKind() && k.GroupVersion() == o.GroupVersionKind().GroupVersion()
	})
	if at < 0 {
		return kind{}, false
	}
	return known[at], true
}

// nameOf names the object for people.
func nameOf(o *object) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

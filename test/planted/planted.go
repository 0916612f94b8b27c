// Package planted searches for leaked secrets in everything that operator and portal wrote, served and logged during a
// stack's tests. A test package begins one Search, passes it every text, and ends it when all tests have run.
package planted

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// shortest is the minimum length of a secret: shorter values would be found in ordinary words.
const shortest = 12

// Search is one search. It stores texts on disk until End, because some secrets become known only after they could have
// leaked.
type Search struct {
	dir string

	mu      sync.Mutex
	secrets map[string]string // name, by value
	files   map[string]*os.File
	others  map[string]string // paths of files that the search did not write, by place
	errs    []error
}

// Begin starts a search that stores its texts in a new folder below dir.
func Begin(dir string) (*Search, error) {
	own, err := os.MkdirTemp(dir, "planted-")
	if err != nil {
		return nil, err
	}
	s := &Search{dir: own, secrets: map[string]string{}, files: map[string]*os.File{}, others: map[string]string{}}
	for name, part := range kinds {
		s.Plant(name, part)
	}
	return s, nil
}

// kinds are texts that every secret of a kind contains.
var kinds = map[string]string{
	"a signed token": "eyJhbGciOiJSUzI1NiIs", "a private key": "PRIVATE KEY-----",
	"a signed request to AWS": "AWS4-HMAC-SHA256 Credential=",
}

// Plant adds a secret. End reports it by its name. Only the signature of a token counts as secret.
func (s *Search) Plant(name, value string) {
	if head, _, ok := strings.Cut(value, "."); ok && strings.HasPrefix(head, "eyJ") {
		value = value[strings.LastIndexByte(value, '.')+1:]
	}
	if len(value) < shortest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets[value] == "" {
		s.secrets[value] = name
	}
}

// Write stores a text about a subject, such as a request, that was seen at a place, such as the portal's answers.
func (s *Search) Write(place, subject, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[place]
	if f == nil {
		var err error
		if f, err = os.Create(filepath.Join(s.dir, strconv.Itoa(len(s.files)))); err != nil {
			s.errs = append(s.errs, err)
			return
		}
		s.files[place] = f
	}
	if _, err := io.WriteString(f, mark+subject+"\n"+text+"\n"); err != nil {
		s.errs = append(s.errs, err)
	}
}

// mark begins the line with the subject of an entry.
const mark = "\x01about "

// Into returns a writer to the place, for logs: each write is an entry without a subject.
func (s *Search) Into(place string) io.Writer { return writer{s, place} }

type writer struct {
	s     *Search
	place string
}

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	w.s.Write(w.place, "", string(p))
	return len(p), nil
}

// File makes End search a file that something else writes.
func (s *Search) File(place, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others[place] = path
}

// End searches all texts for all secrets, and reports which secret was found where, never its value. It fails if
// nothing was planted or nothing was stored.
func (s *Search) End() (found []string, summary string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := s.others
	for place, f := range s.files {
		places[place] = f.Name()
		s.errs = append(s.errs, f.Close())
	}
	look, size := newFinder(s.secrets), 0
	for place, path := range places {
		text, err := os.ReadFile(path)
		s.errs = append(s.errs, err)
		size += len(text)
		for _, hit := range look.in(text) {
			if line := place + hit.about() + ": " + hit.name; !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
	}
	if size == 0 || len(s.secrets) <= len(kinds) {
		s.errs = append(s.errs, fmt.Errorf("%d secrets in %d bytes are no search", len(s.secrets), size))
	}
	slices.Sort(found)
	summary = fmt.Sprintf("%d secrets were looked for in %.1f MB of %d places", len(s.secrets), float64(size)/1e6,
		len(places))
	return found, summary, errors.Join(append(s.errs, os.RemoveAll(s.dir))...)
}

// forms returns the encodings in which a value can appear.
func forms(value string) []string {
	quoted := strconv.Quote(value)
	all := []string{
		value, quoted[1 : len(quoted)-1], url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
	slices.Sort(all)
	return slices.Compact(all)
}

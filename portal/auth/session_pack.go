package auth

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Sessions and groups are packed for their cookies. Proxies limit the headers of a response, nginx to 4 kB by default,
// and the response to a sign-in sets all cookies at once.

const (
	// packFrom is the length from which a session is packed. Shorter ones fit unpacked, and replicas of the previous
	// version can read them.
	packFrom = 1 << 10
	// packedForm is the first byte of a packed session; an unpacked one begins with a brace.
	packedForm = 1
	// idSize is the size in bytes of a UUID in a list.
	idSize = 16
	// maxSessionText bounds an unpacked session: its groups, and the other data of the identity provider.
	maxSessionText = 2 * maxGroupsText
)

// packedSession is a session whose groups are in List.
type packedSession struct {
	session
	List *groupList `json:"k,omitempty"`
}

// groupList is a compact list of groups.
type groupList struct {
	Prefix string   `json:"p,omitempty"` // of each of IDs
	IDs    []byte   `json:"i,omitempty"` // UUIDs, idSize bytes each
	Names  []string `json:"n,omitempty"` // the others
}

// listOf returns the list of the groups, UUIDs first.
func listOf(groups []string) *groupList {
	if len(groups) == 0 {
		return nil
	}
	l := &groupList{}
	for _, group := range groups {
		prefix, id, ok := cutID(group)
		if ok && len(l.IDs) == 0 {
			l.Prefix = prefix
		}
		if ok && l.Prefix == prefix {
			l.IDs = append(l.IDs, id...)
			continue
		}
		l.Names = append(l.Names, group)
	}
	return l
}

// cutID splits a group into a prefix and the UUID at its end, if that is in the format of idText.
func cutID(group string) (prefix string, id []byte, ok bool) {
	at := len(group) - len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	if at < 0 {
		return "", nil, false
	}
	id, err := hex.DecodeString(strings.ReplaceAll(group[at:], "-", ""))
	return group[:at], id, err == nil && len(id) == idSize && idText(id) == group[at:]
}

func idText(id []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// groups returns the groups that were passed to listOf, UUIDs first.
func (l *groupList) groups() ([]string, error) {
	if l == nil {
		return nil, nil
	}
	var all []string
	for id := range slices.Chunk(l.IDs, idSize) {
		if len(id) < idSize {
			return nil, errors.New("reading the groups of a session: an ID is cut off")
		}
		all = append(all, l.Prefix+idText(id))
	}
	return append(all, l.Names...), nil
}

// textOf returns the total length of the groups in a request to Kubernetes.
func textOf(groups []string) (n int) {
	for _, group := range groups {
		n += len(group) + len(`"",`)
	}
	return n
}

// packSession returns a session in the format of its cookie.
func packSession(s session) ([]byte, error) {
	plain, err := json.Marshal(s)
	if err == nil && len(plain) < packFrom {
		return plain, nil
	}
	list := listOf(s.Groups)
	s.Groups = nil
	if plain, err = json.Marshal(packedSession{s, list}); err != nil {
		return nil, fmt.Errorf("writing the session: %w", err)
	}
	packed, err := pack(plain)
	if err != nil {
		return nil, fmt.Errorf("writing the session: %w", err)
	}
	return append([]byte{packedForm}, packed...), nil
}

// unpackSession reads a session that packSession or an earlier version wrote.
func unpackSession(plain []byte) (session, error) {
	var s packedSession
	var err error
	if len(plain) > 0 && plain[0] == packedForm {
		if plain, err = unpack(plain[1:], maxSessionText); err != nil {
			return session{}, fmt.Errorf("reading a session: %w", err)
		}
	}
	if err := json.Unmarshal(plain, &s); err != nil {
		return session{}, fmt.Errorf("reading a session: %w", err)
	}
	if s.List != nil {
		s.Groups, err = s.List.groups()
	}
	return s.session, err
}

// packGroups returns groups in the format of their separate cookies.
func packGroups(groups []string) ([]byte, error) {
	plain, err := json.Marshal(listOf(groups))
	if err != nil {
		return nil, fmt.Errorf("writing the groups of a session: %w", err)
	}
	packed, err := pack(plain)
	if err != nil {
		return nil, fmt.Errorf("writing the groups of a session: %w", err)
	}
	return packed, nil
}

// unpackGroups reads groups that packGroups wrote, or an earlier version, which wrote an array.
func unpackGroups(packed []byte) ([]string, error) {
	plain, err := unpack(packed, maxGroupsText)
	if err != nil {
		return nil, fmt.Errorf("reading the groups of a session: %w", err)
	}
	if bytes.HasPrefix(plain, []byte("[")) {
		var groups []string
		if err := json.Unmarshal(plain, &groups); err != nil {
			return nil, fmt.Errorf("reading the groups of a session: %w", err)
		}
		return groups, nil
	}
	var l groupList
	if err := json.Unmarshal(plain, &l); err != nil {
		return nil, fmt.Errorf("reading the groups of a session: %w", err)
	}
	return l.groups()
}

// pack compresses a cookie's content: it halves the size of UUID groups.
func pack(plain []byte) ([]byte, error) {
	var packed bytes.Buffer
	to, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(plain); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// unpackers are pooled: each request with a packed session needs one, of some 40 kB.
var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// unpack decompresses packed, and returns an error if the result exceeds most bytes.
func unpack(packed []byte, most int64) ([]byte, error) {
	from := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(from)
	if err := from.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(from, most))
}

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

// Sessions and groups are packed for their cookies. Proxies take only so much of an answer's headers, 4 kB with the
// defaults of nginx, and those of a sign-in bring all cookies at once.

const (
	// packFrom is the length from which on a session is packed. Shorter ones have room as they are, and replicas of the
	// version before read them.
	packFrom = 1 << 10
	// packedForm begins a session that is packed; one that is not begins with a brace.
	packedForm = 1
	// idSize is how many bytes an ID of 36 letters has in a list.
	idSize = 16
	// maxSessionText bounds a session that is unpacked: its groups, and what else the identity provider says.
	maxSessionText = 2 * maxGroupsText
)

// packedSession is a session whose groups are in List.
type packedSession struct {
	session
	List *groupList `json:"k,omitempty"`
}

// groupList holds groups in less room.
type groupList struct {
	Prefix string   `json:"p,omitempty"` // of each of IDs
	IDs    []byte   `json:"i,omitempty"` // UUIDs, idSize bytes each
	Names  []string `json:"n,omitempty"` // the others
}

// listOf returns the list of the groups. Those that are IDs come first in it.
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

// cutID cuts the UUID off that a group ends with, if it is written as idText writes it.
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

// groups returns what listOf was given.
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

// textOf returns how long groups are in a request to Kubernetes.
func textOf(groups []string) (n int) {
	for _, group := range groups {
		n += len(group) + len(`"",`)
	}
	return n
}

// packSession returns the session as its cookie holds it.
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

// unpackSession reads a session that packSession wrote, or a portal of before.
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

// packGroups returns groups as cookies of their own hold them.
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

// unpackGroups reads groups that packGroups wrote, or a portal of before, which wrote an array.
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

// pack compresses a cookie's content: IDs of groups take less than half the room then.
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

// unpackers are kept: each request with a packed session needs one, of some 40 kB.
var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// unpack returns what was packed, and no more than that many bytes of it.
func unpack(packed []byte, most int64) ([]byte, error) {
	from := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(from)
	if err := from.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(from, most))
}

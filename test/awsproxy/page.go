package awsproxy

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// isList reports whether the children of an element, or of a field, are a listing's items.
func isList(name string) bool {
	for _, s := range services {
		if slices.Contains(s.items, name) {
			return true
		}
	}
	return false
}

// flatItems are items that S3 lists without an element around them.
var flatItems = map[string]bool{"Contents": true, "Version": true, "DeleteMarker": true}

// dropLastItem removes the last item of a page, if it has one.
func dropLastItem(x *wire.Exchange, r *wire.Reply) {
	if r.Status != 200 || r.Load() != nil {
		return
	}
	if x.Protocol == wire.JSON || x.Protocol == wire.RESTJSON {
		r.Body = dropLastOfJSON(r.Body)
		return
	}
	if start, end := lastItem(r.Body); end > start {
		r.Body = append(bytes.Clone(r.Body[:start]), r.Body[end:]...)
	}
}

func dropLastOfJSON(body []byte) []byte {
	var page map[string]json.RawMessage
	if json.Unmarshal(body, &page) != nil {
		return body
	}
	for name, raw := range page {
		var items []json.RawMessage
		if isList(name) && json.Unmarshal(raw, &items) == nil && len(items) > 0 {
			page[name], _ = json.Marshal(items[:len(items)-1]) // raw messages marshal unchanged
		}
	}
	if out, err := json.Marshal(page); err == nil {
		return out
	}
	return body
}

// lastItem returns the start and the end of the last item of the outermost list.
func lastItem(body []byte) (start, end int) {
	d := xml.NewDecoder(bytes.NewReader(body))
	var s itemScan
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil { // the end, or invalid XML
			return s.start, s.end
		}
		switch t := token.(type) {
		case xml.StartElement:
			s.open(t.Name.Local, before)
		case xml.EndElement:
			s.close(int(d.InputOffset()))
		}
	}
}

// itemScan finds the items of the outermost list while it reads a document.
type itemScan struct {
	depth, list int // list: the depth of the list's element, 0 outside
	item        int // the start of the current item
	start, end  int // of the last whole item
}

func (s *itemScan) open(name string, offset int) {
	s.depth++
	switch {
	case s.list > 0 && s.depth == s.list+1:
		s.item = offset
	case s.list == 0 && flatItems[name]:
		s.item, s.list = offset, s.depth-1
	case s.list == 0 && isList(name):
		s.list = s.depth
	}
}

func (s *itemScan) close(offset int) {
	if s.list > 0 && s.depth == s.list+1 {
		s.start, s.end = s.item, offset
	}
	if s.list > 0 && s.depth == s.list {
		s.list = 0
	}
	s.depth--
}

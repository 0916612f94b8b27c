package awsproxy

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
)

// listNames are the elements, or fields, whose children are a listing's items.
var listNames = map[string]bool{
	"Buckets": true, "QueueUrls": true, "CertificateSummaryList": true,
	"DBInstances": true, "DBSnapshots": true, "reservationSet": true, "tagSet": true,
	"HostedZones": true, "ResourceRecordSets": true, "Parameters": true,
	"LoadBalancers": true, "TargetGroups": true, "Listeners": true, "Rules": true, "Certificates": true,
	"ResourceTagMappingList": true, "SecretList": true,
}

// flatItems are items that S3 lists without an element around them.
var flatItems = map[string]bool{"Contents": true, "Version": true, "DeleteMarker": true}

// dropLastItem takes the last item out of a page, where there is one.
func dropLastItem(x *exchange, r *reply) {
	if r.status != 200 || r.load() != nil {
		return
	}
	if x.protocol == protoJSON {
		r.body = dropLastOfJSON(r.body)
		return
	}
	if start, end := lastItem(r.body); end > start {
		r.body = append(bytes.Clone(r.body[:start]), r.body[end:]...)
	}
}

func dropLastOfJSON(body []byte) []byte {
	var page map[string]json.RawMessage
	if json.Unmarshal(body, &page) != nil {
		return body
	}
	for name, raw := range page {
		var items []json.RawMessage
		if listNames[name] && json.Unmarshal(raw, &items) == nil && len(items) > 0 {
			page[name], _ = json.Marshal(items[:len(items)-1]) // raw messages marshal as they are
		}
	}
	if out, err := json.Marshal(page); err == nil {
		return out
	}
	return body
}

// lastItem returns where the last item of the outermost list begins and ends.
func lastItem(body []byte) (start, end int) {
	d := xml.NewDecoder(bytes.NewReader(body))
	depth, list := 0, 0 // list: the depth of the list's element, 0 outside
	itemStart := 0
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return start, end
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch {
			case list > 0 && depth == list+1, list == 0 && flatItems[t.Name.Local]:
				itemStart = before
				if list == 0 {
					list = depth - 1
				}
			case list == 0 && listNames[t.Name.Local]:
				list = depth
			}
		case xml.EndElement:
			if list > 0 && depth == list+1 {
				start, end = itemStart, int(d.InputOffset())
			}
			if list > 0 && depth == list {
				list = 0
			}
			depth--
		}
	}
}

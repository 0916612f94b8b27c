package s3

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// named matches the elements of a listing that hold keys, or parts of keys.
var named = regexp.MustCompile(
	`(?s)<(Key|Prefix|Delimiter|Marker|NextMarker|KeyMarker|NextKeyMarker|StartAfter)>(.*?)</`)

// listing writes the keys of a listing of objects as S3 does: percent-encoded if requested, which moto ignores for
// versions; otherwise unchanged, with a reference for each character that XML does not allow. No parser accepts those
// references.
func listing(x *wire.Exchange, r *wire.Reply) *wire.Reply {
	if r.Status != http.StatusOK {
		return r
	}
	encode := refer
	if x.Query.Get("encoding-type") == "url" {
		if x.Call.Operation != "ListObjectVersions" {
			return r
		}
		encode = func(key string) string {
			return strings.ReplaceAll(url.QueryEscape(html.UnescapeString(key)), "%2F", "/")
		}
		r.Body = regexp.MustCompile(`</ListVersionsResult>`).ReplaceAll(
			r.Body, []byte("<EncodingType>url</EncodingType></ListVersionsResult>"))
	}
	r.Body = named.ReplaceAllFunc(r.Body, func(found []byte) []byte {
		parts := named.FindSubmatch(found)
		return fmt.Appendf(nil, "<%s>%s</", parts[1], encode(string(parts[2])))
	})
	return r
}

// refer replaces control characters with character references.
func refer(key string) string {
	var b strings.Builder
	for _, c := range key {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			fmt.Fprintf(&b, "&#x%x;", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

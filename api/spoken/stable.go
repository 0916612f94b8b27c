package spoken

import (
	"regexp"
	"strings"
)

// mostStable bounds the texts that Stable reads, in bytes. Conditions, the longest that are kept, have half of it.
const mostStable = 8 << 10

// address matches an IP address without its port.
const address = `(?:[\d.]{1,15}|\[[^\]\s]{1,64}\])`

// unstable are the parts of foreign texts that differ between tries, or between objects of the same kind, and what
// stands for them. Their order matters: the query of an URL can contain any of the others. Repetitions after an
// optional part are bounded, so that one match does not read to the end of the text.
var unstable = []struct {
	pattern *regexp.Regexp
	only    func(match string) bool // nil: all
	by      string
}{
	// Signed URLs of a registry's storage have a time and a signature in their query.
	{regexp.MustCompile(`(https?://[^\s"'<>?]+)\?[^\s"'<>]+`), signature.MatchString, "$1?…"},
	// The source port is another for each connection.
	{regexp.MustCompile(`\b(dial|read|write) (tcp|udp)[46]? ` + address + `:\d{1,5}->(` + address + `:\d{1,5})`), nil, "$1 $2 $3"},
	// A name can have several addresses: where the URL says which name it is, they say nothing more.
	{regexp.MustCompile(`(https?://[^\s"'<>]+"?: (?:dial|read|write) tcp)[46]? ` + address + `(?::\d{1,5})?`), nil, "$1"},
	{regexp.MustCompile(`(?i)\b(` + requestID + `"?\s{0,4}[:=]\s{0,4}"?)[^\s,;)"]+`), nil, "${1}…"},
	{regexp.MustCompile(`(?i)\b(` + requestID + `"?\s{1,4}"?)[^\s,;)"]{8,}`), hasDigit, "${1}…"},
	{regexp.MustCompile(`(?i)\b(authorization failure message: ?)[^\s,;)]+`), nil, "${1}…"},
	{regexp.MustCompile(`(?i)\b(retry-after:? ?)[\d.]+(?:[a-zµ]{1,2})?`), nil, "${1}…"},
	{regexp.MustCompile(`\bcurrent time \S{1,64} is (after|before) `), nil, "the current time is $1 "},
	// Other IDs name something.
	{regexp.MustCompile(`(/pods/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), nil, "$1…"},
	{regexp.MustCompile(`(/k8s\.io/|/containers/|\b(?:cri-containerd|crio|docker)-)[0-9a-f]{64}\b`), nil, "$1…"},
}

const requestID = `(?:x-)?(?:amz?n?-)?(?:request|host|trace|correlation)[- _]?id`

// signature matches the parameters that make an URL a secret for some time.
var signature = regexp.MustCompile(`(?i)[?&](?:x-(?:amz|goog)-(?:signature|security-token)|signature|sig|(?:access_)?token|verify)=`)

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// Stable returns a foreign text without what differs between tries: source ports, addresses of hosts that the text
// names, IDs of requests and containers, the time, and signatures. In a condition they would write the status, and wake
// every watcher, with each try; and a signed URL is a secret. Of a text of more than 8 KiB it returns the beginning.
func Stable(text string) string {
	text = Cut(text, mostStable)
	for _, u := range unstable {
		text = u.pattern.ReplaceAllStringFunc(text, func(match string) string {
			if u.only != nil && !u.only(match) {
				return match
			}
			return u.pattern.ReplaceAllString(match, u.by)
		})
	}
	return text
}

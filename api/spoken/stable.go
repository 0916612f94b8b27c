package spoken

import (
	"regexp"
	"strings"
)

// unstable are the parts of foreign texts that differ between tries, or between objects of the same kind, and what
// stands for them. Their order matters: the query of an URL can contain any of the others.
var unstable = []struct {
	pattern *regexp.Regexp
	by      string
}{
	// Signed URLs of a registry's storage have a time and a signature in their query.
	{regexp.MustCompile(`(https?://[^\s"'<>?]+)\?[^\s"'<>]+`), "$1?…"},
	// The source port is another for each connection, and a name can have several addresses; the text names the host.
	{regexp.MustCompile(`\b(dial|read|write) tcp[46]? (?:[\d.]+|\[[^\]]*\])(?::\d+)?(?:->(?:[\d.]+|\[[^\]]*\]):\d+)?`), "$1 tcp"},
	// The server of a DNS request says where to look.
	{regexp.MustCompile(`\b(dial|read|write) udp[46]? (?:(?:[\d.]+|\[[^\]]*\]):\d+->)?((?:[\d.]+|\[[^\]]*\]):\d+)`), "$1 udp $2"},
	{regexp.MustCompile(`(?i)\b((?:x-)?(?:amz?n?-)?(?:request|host|trace|correlation)[- _]?id"?(?:\s*[:=]\s*|\s+)"?)[^\s,;)"]+`), "${1}…"},
	{regexp.MustCompile(`(?i)\b(authorization failure message: ?)[^\s,;)]+`), "${1}…"},
	{regexp.MustCompile(`(?i)\b(retry-after:? ?)[\d.]+(?:[a-zµ]+)?`), "${1}…"},
	{regexp.MustCompile(`\bcurrent time \S+ is (after|before) \S+`), "the current time is $1 its dates"},
	{regexp.MustCompile(`(/pods/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "$1…"}, // other IDs name something
}

// containerID matches the ID of a container, and the digest of an image, which stays.
var containerID = regexp.MustCompile(`(sha256:)?\b[0-9a-f]{64}\b`)

// Stable returns a foreign text without what differs between tries: source ports, addresses of hosts that the text
// names, IDs of requests, times and signatures. In a condition they would write the status, and wake every watcher,
// with each try; and a signed URL is a secret.
func Stable(text string) string {
	for _, u := range unstable {
		text = u.pattern.ReplaceAllString(text, u.by)
	}
	return containerID.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, "sha256:") {
			return id
		}
		return "…"
	})
}

package wire

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// Reply is a response of the simulator or of the proxy itself.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Stream io.ReadCloser // the rest of the body, if not nil
}

// Load reads the body into memory.
func (r *Reply) Load() error {
	if r.Stream == nil {
		return nil
	}
	stream := r.Stream
	defer func() { _ = stream.Close() }()
	rest, err := io.ReadAll(stream)
	if err != nil {
		return fmt.Errorf("read the simulator's response: %w", err)
	}
	r.Body, r.Stream = append(r.Body, rest...), nil
	r.Header.Del("Content-Length")
	return nil
}

// Discard closes the rest of the body; r may be nil.
func (r *Reply) Discard() {
	if r != nil && r.Stream != nil {
		_ = r.Stream.Close()
	}
}

// SetJSON replaces the body.
func (r *Reply) SetJSON(v any) (err error) {
	r.Body, err = json.Marshal(v)
	r.Header.Del("Content-Length")
	return err
}

// Broken returns err, or an error for the simulator's failure, which does not prove that a resource is missing.
func (r *Reply) Broken(err error) error {
	if err == nil && r.Status >= http.StatusInternalServerError {
		return fmt.Errorf("the simulator answered %d: %s", r.Status, r.Body)
	}
	return err
}

// XMLReply returns a reply whose body has the values, escaped, in the places of the format.
func XMLReply(status int, format string, values ...string) *Reply {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = EscapeXML(v)
	}
	return &Reply{
		Status: status, Header: http.Header{"Content-Type": {"application/xml"}},
		Body: []byte(xml.Header + fmt.Sprintf(format, args...)),
	}
}

// EscapeXML escapes a text for XML.
func EscapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

var xmlCode = regexp.MustCompile(`<Code>([^<]*)</Code>`)

// ErrorCode returns the code that the client's SDK will show, or "".
func ErrorCode(r *Reply) string {
	if r.Status < 300 {
		return ""
	}
	if err := r.Load(); err != nil {
		return ""
	}
	if code, _, ok := strings.Cut(r.Header.Get("X-Amzn-Query-Error"), ";"); ok {
		return code
	}
	if m := xmlCode.FindSubmatch(r.Body); m != nil {
		return string(m[1])
	}
	var body struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(r.Body, &body) == nil && body.Type != "" {
		return body.Type[strings.LastIndex(body.Type, "#")+1:]
	}
	if code := r.Header.Get("X-Amzn-Errortype"); code != "" {
		return code
	}
	return strings.ReplaceAll(http.StatusText(r.Status), " ", "")
}

// RequestID looks like the service's: S3 has 16 characters, others a UUID.
func RequestID(proto Protocol) string {
	if proto == S3 {
		return rand.Text()[:16]
	}
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails, as documented
	h := hex.EncodeToString(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/stack"
)

// raw sends bytes unchanged, which no client of Go's would, and returns the responses until the portal closes the
// connection or is silent. It fails if there is neither a response nor an end. The text should end with a request
// that asks to close.
func (g *target) raw(t *testing.T, text string) (answers []answer) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		return nil // the connection was closed before
	}
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	for r := bufio.NewReader(conn); ; {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			if len(answers) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%.80q is neither answered nor hung up on", text)
			}
			return answers
		}
		body, _ := io.ReadAll(resp.Body)
		answers = append(answers, answer{status: resp.StatusCode, header: resp.Header, raw: string(body)})
		keepAnswer(text, resp.Header, body)
	}
}

// keepAnswer records a response for the search for secrets, without cookies, which are secrets that belong there.
func keepAnswer(request string, header http.Header, body []byte) {
	var all bytes.Buffer
	header = header.Clone()
	header.Del("Set-Cookie")
	_ = header.Write(&all) // to memory
	line, _, _ := strings.Cut(request, "\r\n")
	secrets.Write("answers", fmt.Sprintf("%.80q", line), all.String()+string(body))
}

// TestSmuggledRequestsAreRefused checks that a request that two parsers could read differently is refused, or ends
// the connection, and that each request is judged by its own headers.
func TestSmuggledRequestsAreRefused(t *testing.T) {
	g := newTarget(t)
	host := strings.TrimPrefix(g.url, "http://")
	token := g.issuer.Token(g.claims)
	const inner = "GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	post := func(headers, body string) string {
		return "POST /api/v1/namespaces/payments/s3buckets?dryRun=All HTTP/1.1\r\nHost: " + host +
			"\r\nAuthorization: Bearer " + token +
			"\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	// Well-formed requests are answered, one after the other, so the wrong ones below do not fail for another reason.
	right := `{"metadata":{"name":"` + unique("right") + `"},"spec":{"providerRef":{"name":"` + stack.Provider + `"}}}`
	both := g.raw(t, post(fmt.Sprintf("Content-Length: %d\r\n", len(right)), right)+strings.Replace(
		inner, "\r\n\r\n", "\r\nAuthorization: Bearer "+token+"\r\n\r\n", 1))
	if len(both) != 2 || both[0].status != http.StatusOK || both[1].status != http.StatusOK {
		t.Fatalf("two requests that are right are answered %v, want 200 twice", both)
	}
	if !strings.Contains(both[1].raw, "payments-dev") {
		t.Fatalf("the second request is answered %q, want payments-dev in it", both[1].raw)
	}
	bad := map[string]string{
		"two lengths":          post("Content-Length: 2\r\nContent-Length: 40\r\n", "{}"+inner),
		"two lengths in one":   post("Content-Length: 2, 40\r\n", "{}"+inner),
		"a length with a sign": post("Content-Length: +2\r\n", "{}"+inner),
		"a length in hex":      post("Content-Length: 0x2\r\n", "{}"+inner),
		"a negative length":    post("Content-Length: -1\r\n", "{}"+inner),
		"a length beyond all":  post("Content-Length: 99999999999999999999\r\n", "{}"+inner),
		"a length and chunks": post("Content-Length: 40\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+
			inner),
		"chunks and a length": post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"+
			inner),
		"chunks by another name": post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"+inner),
		"chunks twice": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
			"0\r\n\r\n"+inner),
		"chunks and identity": post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"+inner),
		"chunks after a tab": post("Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"+
			inner),
		"chunks, with a blank before": post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"+inner),
		"chunks with an underscore":   post("Transfer_Encoding: chunked\r\nContent-Length: 2\r\n", "{}"+inner),
		"a chunk of negative size":    post("Transfer-Encoding: chunked\r\n", "-1\r\n\r\n"+inner),
		"a chunk of a size beyond all": post(
			"Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"+inner),
		"a chunk without its end": post("Transfer-Encoding: chunked\r\n", "2\r\n{}XX0\r\n\r\n"+inner),
		"a chunk with a long extension": post("Transfer-Encoding: chunked\r\n", "2;"+strings.Repeat("a", 1<<20)+
			"\r\n{}\r\n0\r\n\r\n"+inner),
		"a name in the trailer": post("Transfer-Encoding: chunked\r\nTrailer: Impersonate-User\r\n",
			"2\r\n{}\r\n0\r\nImpersonate-User: oidc:platform-admin\r\n\r\n"+inner),
		"a line that goes on": post(
			"X-A: b\r\n Impersonate-User: oidc:platform-admin\r\nContent-Length: 2\r\n", "{}"+inner),
		"a name with a blank": post("Impersonate-User : oidc:platform-admin\r\nContent-Length: 2\r\n", "{}"+
			inner),
		"a name with a NUL": post("Imperson\x00ate-User: x\r\nContent-Length: 2\r\n", "{}"+inner),
		"a value with a CR": post("X-A: b\rImpersonate-User: x\r\nContent-Length: 2\r\n", "{}"+inner),
		"no name":           post(": x\r\nContent-Length: 2\r\n", "{}"+inner),
		"two hosts": "GET /teams/payments HTTP/1.1\r\nConnection: close\r\nHost: " + host +
			"\r\nHost: evil.example\r\n\r\n",
		"no host": "GET /teams/payments HTTP/1.1\r\nConnection: close\r\n\r\n",
		"a host with a path": "GET /teams/payments HTTP/1.1\r\nConnection: close\r\nHost: " + host +
			"/evil\r\n\r\n",
		"another host in the line": "GET http://evil.example/api/v1/me HTTP/1.1\r\nConnection: close\r\nHost: " +
			host + "\r\n\r\n",
		"a blank in the path": "GET /api/v1/me /x HTTP/1.1\r\nConnection: close\r\nHost: " + host +
			"\r\n\r\n",
		"a line without version": "GET /api/v1/me\r\n\r\n",
		"a version that is none": "GET /api/v1/me HTTP/9.9\r\nHost: " + host + "\r\n\r\n",
		"a method that is none": "G\x00T /api/v1/me HTTP/1.1\r\nConnection: close\r\nHost: " + host +
			"\r\n\r\n",
		"a tunnel": "CONNECT evil.example:443 HTTP/1.1\r\nConnection: close\r\nHost: " +
			"evil.example:443\r\n\r\n" + inner,
		"another protocol": "GET /api/v1/me HTTP/1.1\r\nHost: " + host +
			"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + inner,
		"HTTP/2 without TLS": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"headers beyond all": "GET /api/v1/me HTTP/1.1\r\nConnection: close\r\nHost: " + host +
			"\r\nX-A: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
		"thousands of headers": "GET /api/v1/me HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n" +
			strings.Repeat("X-A: a\r\n", 50_000) + "\r\n",
		"a path beyond all": "GET /" + strings.Repeat("a", 1<<20) +
			" HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n\r\n",
		"a path that climbs": "GET /assets/../../../etc/passwd HTTP/1.1\r\nConnection: close\r\nHost: " +
			host + "\r\n\r\n",
		"a path that climbs, encoded": "GET /assets/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nConnection: " +
			"close\r\nHost: " + host + "\r\n\r\n",
		"a path that climbs to the pages": "GET /api/v1/openapi.json/../../../admin HTTP/1.1\r\nConnection: " +
			"close\r\nHost: " + host + "\r\n\r\n",
	}
	for name, text := range bad {
		for _, a := range g.raw(t, text) {
			known := a.status == http.StatusNotImplemented || a.status == http.StatusHTTPVersionNotSupported
			if a.status < 300 || a.status >= 500 && !known {
				t.Errorf("%s: status = %d, want a refusal: %.200s", name, a.status, a.raw)
			}
			if strings.Contains(a.raw, "payments-dev") {
				t.Errorf("%s: it is answered as payments-dev: %.200s", name, a.raw)
			}
		}
	}
	t.Logf("%d bad inputs", len(bad))
}

// TestNoHeaderMakesSomebodyElse sends every spelling of the headers with which a proxy in front names a user, or a
// client.
func TestNoHeaderMakesSomebodyElse(t *testing.T) {
	g := newTarget(t)
	host := strings.TrimPrefix(g.url, "http://")
	token := g.issuer.Token(g.claims)
	count := 0
	for _, name := range []string{
		"Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scopes", "X-Remote-User",
		"X-Remote-Group", "X-Remote-Extra-Scopes",
		"X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username", "X-Forwarded-Groups",
		"X-Auth-Request-User", "X-Auth-Request-Groups",
		"X-User", "X-Groups", "Remote-User", "X-Original-User", "X-Webauth-User", "X-Original-Url", "X-Rewrite-Url",
		"X-Http-Method-Override", "X-Forwarded-Prefix",
	} {
		for _, spelled := range []string{
			name, strings.ToLower(name), strings.ToUpper(name),
			strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(strings.ToLower(name), "-", "_"),
		} {
			for _, connection := range []string{"Connection: close\r\n", "Connection: close, " + spelled + "\r\n"} {
				count++
				text := "GET /api/v1/me HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + token + "\r\n" +
					connection + spelled + ": oidc:platform-admin\r\n\r\n"
				got := g.raw(t, text)
				if len(got) != 1 || got[0].status != http.StatusOK {
					t.Fatalf("%s, %q: %v, want 200 once", spelled, connection, got)
				}
				raw := got[0].raw
				if !strings.Contains(raw, `"oidc:payments-dev"`) || strings.Contains(raw, "platform-admin") {
					t.Errorf("%s, %q: answered %q, want it as payments-dev", spelled, connection, raw)
				}
			}
		}
	}
	for _, header := range []string{
		"X-Remote-User: admin", "X-Forwarded-User: admin",
		"Authorization: Basic YWRtaW46YWRtaW4=", "Proxy-Authorization: Bearer " + token, "X-Authorization: Bearer " +
			token,
	} {
		count++
		if got := g.raw(t, fmt.Sprintf("GET /api/v1/me HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n\r\n", host,
			header)); len(got) != 1 || got[0].status != http.StatusUnauthorized {
			t.Errorf("%.40s alone: %v", header, got)
		}
	}
	t.Logf("%d bad inputs", count)
}

package rest

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// TestBodiesThatCannotBeRead: an unreadable body is the client's mistake, whether HTTP or JSON is malformed.
func TestBodiesThatCannotBeRead(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	server := httptest.NewServer(f.serve())
	defer server.Close()
	const whole = `{"metadata":{"name":"x"},"spec":{}}`
	for reason, sent := range map[string]string{
		"a chunk without a length":             "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a chunk that is longer than it says":  "Transfer-Encoding: chunked\r\n\r\n2\r\n" + whole + "\r\n0\r\n\r\n",
		"an object whose last chunk is broken": "Transfer-Encoding: chunked\r\n\r\n23\r\n" + whole + "\r\nzz\r\n",
		"less than was promised":               "Content-Length: 1000\r\n\r\n" + whole,
	} {
		for method, path := range map[string]string{
			http.MethodPost: buckets, http.MethodPut: buckets + "/logs",
			http.MethodPatch: buckets + "/logs",
		} {
			kind := "application/json"
			if method == http.MethodPatch {
				kind = mergePatch
			}
			resp := sendRaw(t, server.Listener.Addr().String(), method+" "+path+
				" HTTP/1.1\r\nHost: x\r\nAuthorization: "+token()+
				"\r\nIf-Match: *\r\nContent-Type: "+kind+"\r\n"+sent)
			var p huma.ErrorModel
			if err := json.Unmarshal([]byte(resp), &p); err != nil {
				t.Fatalf("%s, %s: %v in %s", reason, method, err, resp)
			}
			if p.Status != http.StatusBadRequest || p.Title != "Bad Request" ||
				!strings.Contains(p.Detail, "send it again") {
				t.Errorf("%s, %s: %s", reason, method, resp)
			}
		}
	}
	if len(f.writes) > 0 {
		t.Errorf("of bodies that did not arrive something was made: %q", f.writes)
	}
}

// sendRaw sends text on its own connection, closes its sending side, and returns the body of the response. The body
// contains the status.
func sendRaw(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p huma.ErrorModel
	if json.Unmarshal(body, &p) == nil && p.Status != resp.StatusCode {
		t.Errorf("the answer is a %d that says %d", resp.StatusCode, p.Status)
	}
	return string(body)
}

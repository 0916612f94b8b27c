package contract

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/rest"
)

func document(t *testing.T) []byte {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	raw, err := rest.Document(kinds)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func read(t *testing.T, raw []byte) *Document {
	t.Helper()
	d, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDocumentIsOpenAPI(t *testing.T) {
	d := read(t, document(t))
	for _, fault := range d.Validate() {
		t.Error(fault)
	}
	if n := len(d.schemas()); n < 500 {
		t.Errorf("only %d schemas were looked at", n)
	}
}

const small = `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/things/{name}":{"get":{"operationId":"getThing",
	"parameters":[{"name":"name","in":"path","required":true,"schema":{"type":"string"}}],"responses":{
	"200":{"description":"It","headers":{"ETag":{"required":true,"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
	"429":{"description":"No","headers":{"Retry-After":{"required":true,"schema":{"type":"integer"}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/ErrorModel"}}}}
	}}}},"components":{"schemas":{
	"Thing":{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string","maxLength":3,"default":"abc"}},"examples":[{"name":"a"}]},
	"ErrorModel":{"type":"object","required":["status"],"properties":{"status":{"type":"integer"}}}}}}`

func TestFaultsOfADocumentAreFound(t *testing.T) {
	if faults := read(t, []byte(small)).Validate(); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct{ reason, old, new, want string }{
		{"no title", `"title":"T",`, ``, "no OpenAPI 3.1 document"},
		{"a response without a description", `"description":"It",`, ``, "no OpenAPI 3.1 document"},
		{"a type that there is not", `"maxLength":3`, `"type":"text"`, "is no schema"},
		{"a limit that is no number", `"maxLength":3`, `"maxLength":"3"`, "is no schema"},
		{"a reference to nothing", `"$ref":"#/components/schemas/Thing"`, `"$ref":"#/components/schemas/Thin"`, "is no schema"},
		{"an example of another schema", `"examples":[{"name":"a"}]`, `"examples":[{"name":"abcd"}]`, "the example"},
		{"a default of another schema", `"default":"abc"`, `"default":"abcd"`, "the example or default"},
		{"a parameter that the path has not", `"/things/{name}"`, `"/things/{id}"`, "the path has the parameters [id]"},
		{"no ID", `"operationId":"getThing",`, ``, "is missing"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if strings.Count(small, c.old) != 1 {
				t.Fatalf("%q stands %d times in the document", c.old, strings.Count(small, c.old))
			}
			faults := errors.Join(read(t, []byte(strings.Replace(small, c.old, c.new, 1))).Validate()...)
			if faults == nil || !strings.Contains(faults.Error(), c.want) {
				t.Errorf("%v, want one with %q", faults, c.want)
			}
		})
	}
}

func TestAnswersThatTheDocumentDoesNotAnnounceAreFound(t *testing.T) {
	d := read(t, []byte(small))
	with := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	const plain, problem = "application/json", problems
	for _, c := range []struct {
		reason, method, path string
		status               int
		header               http.Header
		body, want           string
	}{
		{"a good one", "GET", "/things/a", 200, with("Content-Type", plain, "ETag", "x"), `{"name":"a"}`, ""},
		{"a good error", "GET", "/things/a", 429, with("Content-Type", problem, "Retry-After", "1"), `{"status":429}`, ""},
		{"nothing there", "GET", "/others", 404, with("Content-Type", problem), `{"status":404}`, ""},
		{"another method", "PUT", "/things/a", 405, with("Content-Type", problem, "Allow", "GET"), `{"status":405}`, ""},
		{"another method, without Allow", "PUT", "/things/a", 405, with("Content-Type", problem), `{"status":405}`, "no Allow"},
		{"an operation that is not named", "PUT", "/things/a", 200, with("Content-Type", plain), `{}`, "no such operation"},
		{"nothing there, as text", "GET", "/others", 404, with("Content-Type", "text/plain"), `no`, `content type is "text/plain"`},
		{"a status that is not named", "GET", "/things/a", 404, with("Content-Type", problem), `{"status":404}`, "names only the statuses [200 429]"},
		{"a header that is missing", "GET", "/things/a", 200, with("Content-Type", plain), `{"name":"a"}`, "no header ETag"},
		{"a header that is not named", "GET", "/things/a", 200, with("Content-Type", plain, "ETag", "x", "Warning", "y"), `{"name":"a"}`, "does not name the header Warning"},
		{"a header of another type", "GET", "/things/a", 429, with("Content-Type", problem, "Retry-After", "soon"), `{"status":429}`, "header Retry-After"},
		{"another content type", "GET", "/things/a", 200, with("Content-Type", "text/html", "ETag", "x"), `{"name":"a"}`, "not one of [application/json]"},
		{"another body", "GET", "/things/a", 200, with("Content-Type", plain, "ETag", "x"), `{"name":"a","more":1}`, "more"},
		{"no body", "GET", "/things/a", 200, with("Content-Type", plain, "ETag", "x"), ``, "no JSON"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			err := d.Check(Answer{
				Method: c.method, Path: c.path, Status: c.status, Header: c.header,
				Body: []byte(c.body),
			})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTheTransportComplainsAndLetsAnswersPass(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"a"}`)
	}))
	t.Cleanup(server.Close)
	var complaints []string
	client := &http.Client{Transport: read(t, []byte(small)).Transport("/api", server.Client().Transport,
		func(err error) {
			complaints = append(complaints, err.Error())
		})}
	for _, path := range []string{"/page", "/api/openapi.json", "/api/things/a"} {
		resp, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]string
		if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body["name"] != "a" {
			t.Errorf("%s: %v %v", path, body, err)
		}
		_ = resp.Body.Close()
	}
	if len(complaints) != 1 || !strings.Contains(complaints[0], "GET /things/a answers 200") {
		t.Errorf("%q", complaints)
	}
}

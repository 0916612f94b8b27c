//go:build integration

package integration

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
)

// body is a request body that is meant to be expensive.
type body struct {
	name, contentType, text string
	header                  []string
}

const (
	formType = "application/x-www-form-urlencoded"
	// costly is more than any of them may make the process allocate: bodies that are read at all are limited to 1
	// MiB.
	costly = 256 << 20
)

// bombs returns YAML that is short and expands to a lot.
func bombs() map[string]string {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	return map[string]string{
		"a billion laughs": laughs + "spec: *a9\n",
		"aliases of a text": "a: &a " + strings.Repeat("x", 43_000) + "\nspec:\n  b: [" +
			strings.Repeat("*a,", 14_500) + "]\n",
		"merge keys":          "a: &a {x: 1}\nspec:\n  <<: *a\n",
		"an alias of itself":  "spec: &a\n  b: *a\n",
		"lists in lists":      "spec: " + strings.Repeat("[", 40_000),
		"maps in maps":        "spec: " + strings.Repeat("{a: ", 40_000) + "1" + strings.Repeat("}", 40_000),
		"dashes":              strings.Repeat("- ", 300_000),
		"many documents":      strings.Repeat("---\na: 1\n", 80_000),
		"a key of a megabyte": strings.Repeat("k", 1_000_000) + ": 1\n",
		"tags of others":      "spec: !!python/object/apply:os.system [\"id\"]\n",
		"a number beyond all": "spec: {replicas: 1" + strings.Repeat("0", 500_000) + "}\n",
	}
}

// bodies returns the bodies for the REST API and for forms.
func (g *target) bodies() (programs, forms []body) {
	nested := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(make([]byte, 64<<20))
	_ = zip.Close()
	const asJSON = "application/json"
	programs = []body{
		{"10 MiB", asJSON, `{"a":"` + strings.Repeat("x", 10<<20) + `"}`, nil},
		{"lists 100,000 deep", asJSON, nested("[", "]", 100_000), nil},
		{"objects 100,000 deep", asJSON, nested(`{"a":`, "}", 100_000), nil},
		{"lists 100,000 deep, left open", asJSON, `{"spec":` + strings.Repeat("[", 100_000), nil},
		{"deep in a string that is none", asJSON, `{"spec":"\"` + strings.Repeat("[", 100_000), nil},
		{"a key 100,000 times", asJSON, `{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, 100_000), ",") + `}`, nil},
		{"100,000 keys", asJSON, manyKeys(100_000), nil},
		{"a number of a megabyte", asJSON, `{"spec":{"replicas":` + strings.Repeat("9", 1_000_000) + `}}`, nil},
		{"not UTF-8", asJSON, "{\"a\":\"\xff\xfe\"}", nil},
		{"nothing", asJSON, "", nil},
		{"64 MiB of zeros, compressed", asJSON, packed.String(), []string{"Content-Encoding", "gzip"}},
		{"a form", formType, "a=b", nil},
		{"XML of entities", "application/xml", `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>`, nil},
		{"CBOR", "application/cbor", "\x9f\x9f\x9f\x9f", nil},
		{"no type", "", `{"spec`, nil},
	}
	for name, text := range bombs() {
		for _, contentType := range []string{"application/yaml", "text/yaml", asJSON} {
			programs = append(programs, body{name + " as " + contentType, contentType, text, nil})
		}
		forms = append(forms,
			body{name + " in the YAML", formType, url.Values{"yaml": {text}, "do": {"review"}}.Encode(), nil},
			body{
				name + " in what the form carries", formType,
				url.Values{"base": {text}, "metadata.name": {"x"}, "do": {"review"}}.Encode(), nil,
			},
			body{
				name + " in what an edit began with", formType,
				url.Values{"began": {text}, "etag": {"x"}, "do": {"review"}}.Encode(), nil,
			})
	}
	forms = append(forms, g.formBodies()...)
	return programs, forms
}

// formBodies returns hostile forms.
func (g *target) formBodies() []body {
	var parts bytes.Buffer
	m := multipart.NewWriter(&parts)
	for i := range 5000 {
		_ = m.WriteField(fmt.Sprintf("f%d", i), "x")
	}
	_ = m.Close()
	field := func(name, value string) string { return url.Values{name: {value}, "do": {"review"}}.Encode() }
	return []body{
		{"10 MiB", formType, "yaml=" + strings.Repeat("x", 10<<20), nil},
		{"100,000 fields", formType, "do=review" + strings.Repeat("&a=1", 100_000), nil},
		{"50,000 fields of different names", formType, manyFields(50_000), nil},
		{"50,000 semicolons", formType, "do=review" + strings.Repeat(";", 50_000), nil},
		{"a row of a number beyond all", formType, field("spec.corsRules.999999999.allowedOrigins", "*"), nil},
		{"a row of a negative number", formType, field("spec.corsRules.-1.allowedOrigins", "*"), nil},
		{"a row of a number that overflows", formType, field("spec.corsRules.99999999999999999999999.allowedOrigins", "*"), nil},
		{"a field 10,000 deep", formType, field("spec"+strings.Repeat(".a", 10_000), "x"), nil},
		{"rows in rows", formType, field("spec"+strings.Repeat(".0", 10_000), "x"), nil},
		{"a value that overflows", formType, field("spec.lifecycleRules.0.expirationDays", strings.Repeat("9", 1_000_000)), nil},
		{"escapes that are none", formType, "yaml=%zz&do=review", nil},
		{"5,000 parts", m.FormDataContentType(), parts.String(), nil},
		{"a part without end", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"yaml\"\r\n\r\n" + strings.Repeat("x", 2<<20), nil},
		{"a boundary beyond all", "multipart/form-data; boundary=" + strings.Repeat("x", 20_000), "--x", nil},
		{"JSON", "application/json", `{"yaml":"x"}`, nil},
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return "{" + strings.TrimSuffix(b.String(), ",") + "}"
}

func manyFields(n int) string {
	var b strings.Builder
	b.WriteString("do=review")
	for i := range n {
		fmt.Fprintf(&b, "&f%d=1", i)
	}
	return b.String()
}

// TestHostileBodiesAreRefusedCheaply sends bodies that are too large, too deep, too many, or of another type than
// declared, to every endpoint that reads one.
func TestHostileBodiesAreRefusedCheaply(t *testing.T) {
	g := newTarget(t)
	programs, forms := g.bodies()
	name := unique("bombed")
	b := newBucket("payments", name)
	create(t, admin(t), b)
	discard(t, b)
	count, most, client := 0, uint64(0), plainly()
	try := func(method, path string, what body, headers ...string) {
		count++
		req, err := http.NewRequestWithContext(t.Context(), method, g.url+path, strings.NewReader(what.text))
		if err != nil {
			t.Fatal(err)
		}
		for headers := append(headers, what.header...); len(headers) > 0; headers = headers[2:] {
			req.Header.Set(headers[0], headers[1])
		}
		if what.contentType != "" {
			req.Header.Set("Content-Type", what.contentType)
		}
		req.AddCookie(&http.Cookie{Name: "__Host-portico", Value: g.session["__Host-portico"]})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resp, err := client.Do(req)
		if err != nil {
			return // the portal closed the connection while the rest was being sent
		}
		_, _ = io.Copy(io.Discard, resp.Body) // for the search for secrets
		_ = resp.Body.Close()
		runtime.ReadMemStats(&after)
		cost := after.TotalAlloc - before.TotalAlloc
		most = max(most, cost)
		if resp.StatusCode >= 500 || cost > costly {
			t.Errorf("%s %s with %s: %d, and %d MB", method, path, what.name, resp.StatusCode, cost>>20)
		}
		// A wrong form is shown again with its errors; only the button that creates something creates it.
		if resp.StatusCode < 400 && !strings.HasPrefix(path, "/teams/") {
			t.Errorf("%s %s with %s: %d", method, path, what.name, resp.StatusCode)
		}
	}
	token := g.issuer.Token(g.claims)
	const at = "/api/v1/namespaces/payments/s3buckets"
	for _, what := range programs {
		try("POST", at, what, "Authorization", "Bearer "+token)
		try("PUT", at+"/"+name, what, "Authorization", "Bearer "+token, "If-Match", "*")
		try("PATCH", at+"/"+name, what, "Authorization", "Bearer "+token, "If-Match", "*")
		try("POST", at, what) // nothing is read from callers without a session
	}
	for _, what := range forms {
		try("POST", "/teams/payments/new/s3buckets", what, "Origin", g.url)
		try("POST", "/teams/payments/s3buckets/"+name+"/edit", what, "Origin", g.url)
		try("POST", "/teams/payments/s3buckets/"+name+"/delete", what, "Origin", g.url)
		try("POST", "/auth/backchannel-logout", what)
	}
	t.Logf("%d bad inputs; the most costly one took %d MB", count, most>>20)
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written returns a bucket in payments with the fields that a user writes.
func written(uid, spec, annotations string) string {
	return `{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": {"name": "a", "namespace": "payments", "uid": "` + uid +
		`", "annotations": {` + annotations +
		`}}, "spec": {"providerRef": {"name": "aws"}, "deletionPolicy": "Retain"` + spec + `}}`
}

const file = "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: a, namespace: payments}\n" +
	"spec: {providerRef: {name: aws}, deletionPolicy: Retain, versioning: Enabled}\n"

func TestApplyOverwritesNothingThatOthersChange(t *testing.T) {
	before, mine := written("u", ``, ``), written("u", `, "versioning": "Enabled"`, ``)
	const changed, refused = 200, 412
	for _, c := range []struct {
		name string
		now  string // the object on the second read; "" for the same
		puts []int  // statuses of PUT
		code int
		want string
	}{
		{"nobody else", "", []int{changed}, 0, "bucket a in payments changed\n"},
		{"who made the same of it", mine, []int{refused, changed}, 0, "bucket a in payments unchanged\n"},
		{"who annotated it", written("u", ``, `"portico.dev/paused": "true"`), []int{refused, changed}, 0, "bucket a in payments changed\n"},
		{"who changed what the file has otherwise", written("u", `, "versioning": "Suspended"`, ``), []int{refused}, 1, "somebody else changed spec.versioning in the meantime"},
		{"who set what the file leaves out", written("u", `, "forceDestroy": true`, ``), []int{refused}, 1, "somebody else changed spec.forceDestroy in the meantime"},
		{"who made it again", written("other", ``, ``), []int{refused}, 1, "somebody else deleted it in the meantime"},
		{"who deleted it", "gone", []int{refused}, 1, "somebody else deleted it in the meantime"},
		{"who does not stop", mine, []int{refused, refused}, 1, "somebody else keeps changing it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, before, "ETag", `"1"`)
			switch c.now {
			case "":
			case "gone":
				p.then("GET "+buckets+"/a", 404, `{"detail": "not found"}`)
			default:
				p.then("GET "+buckets+"/a", 200, c.now, "ETag", `"2"`)
			}
			for _, status := range c.puts {
				p.then("PUT "+buckets+"/a", status,
					map[int]string{changed: mine, refused: `{"detail": "it is another one"}`}[status])
			}
			term := newTerminal(t, p.url)
			term.in = strings.NewReader(file)
			out, said := term.run(c.code, "apply", "-f", "-")
			if !strings.Contains(out+said, c.want) {
				t.Errorf("says %q, want %q", out+said, c.want)
			}
			if n := p.times("PUT " + buckets + "/a"); n != len(c.puts) {
				t.Errorf("%d PUTs, want %d", n, len(c.puts))
			}
		})
	}
}

func TestApplyKeepsWhatOthersAnnotated(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 200, written("u", ``, `"portico.dev/paused": "true"`), "ETag", `"2"`)
	p.on("PUT "+buckets+"/a", 200, written("u", ``, ``))
	term := newTerminal(t, p.url)
	term.in = strings.NewReader(file)
	term.run(0, "apply", "-f", "-")
	sent, _ := p.bodies["PUT "+buckets+"/a"]["metadata"].(map[string]any)
	if notes, _ := sent["annotations"].(map[string]any); notes["portico.dev/paused"] != "true" {
		t.Errorf("sent %v", sent)
	}
}

func TestFilesAreTakenAsKubectlTakesThem(t *testing.T) {
	one := "kind: S3Bucket\napiVersion: portico.dev/v1alpha1\nmetadata:\n  name: a\nspec:\n  providerRef:\n    " +
		"name: aws\n"
	two := strings.Replace(one, "name: a\n", "name: b\n", 1)
	asJSON := func(name string) string {
		return `{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": {"name": "` + name +
			`"}, "spec": {"providerRef": {"name": "aws"}}}`
	}
	utf16 := func(text string) string {
		out := "\xff\xfe"
		for _, b := range []byte(text) {
			out += string([]byte{b, 0})
		}
		return out
	}
	for name, c := range map[string]struct {
		text string
		want string // names, in order
	}{
		"one object":                     {one, "a"},
		"a separator first":              {"---\n" + one, "a"},
		"a comment and a separator":      {"# ours\n---\n" + one, "a"},
		"several":                        {one + "---\n" + two, "ab"},
		"a separator with a comment":     {one + "--- # the other one\n" + two, "ab"},
		"empty documents":                {"---\n---\n" + one + "---\n# nothing here\n---\n\n---\n" + two + "---\n", "ab"},
		"lines of Windows":               {strings.ReplaceAll("# ours\n---\n"+one+"---\n"+two, "\n", "\r\n"), "ab"},
		"a byte order mark":              {"\ufeff" + one + "---\n" + two, "ab"},
		"a byte order mark, a separator": {"\ufeff---\n" + one, "a"},
		"UTF-16, as PowerShell writes":   {utf16(one + "---\r\n" + two), "ab"},
		"a list":                         {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  ") + "\n---\n" + two, "ab"},
		"a list of a kind":               {`{"apiVersion": "portico.dev/v1alpha1", "kind": "S3BucketList", "metadata": {}, "items": [` + asJSON("a") + `,` + asJSON("b") + `]}`, "ab"},
		"JSON":                           {asJSON("a"), "a"},
		"JSON, several":                  {asJSON("a") + "\n" + asJSON("b") + "\n", "ab"},
		"YAML that looks like JSON":      {"{apiVersion: portico.dev/v1alpha1, kind: S3Bucket, metadata: {name: a}, spec: {providerRef: {name: aws}}}", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t)
			want := ""
			for _, n := range c.want {
				p.on("GET "+buckets+"/"+string(n), 404, `{"detail": "not found"}`)
				want += "bucket " + string(n) + " in payments created\n"
			}
			p.on("POST "+buckets, 201, written("u", ``, ``))
			term := newTerminal(t, p.url)
			term.in = strings.NewReader(c.text)
			if out, _ := term.run(0, "apply", "-f", "-"); out != want {
				t.Errorf("says %q, want %q", out, want)
			}
		})
	}
}

func TestFilesThatCannotBeTaken(t *testing.T) {
	one := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: a}\n"
	for name, c := range map[string]struct {
		text string
		code int
		want string
	}{
		"no kind":                {"metadata: {name: a}\n", 2, "-: a resource does not say its kind: add apiVersion and kind"},
		"no kind, of several":    {one + "---\nmetadata: {name: b}\n", 2, "-, resource 2: a resource does not say its kind"},
		"no name":                {"apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\n", 2, "-: an S3Bucket has no metadata.name"},
		"a kind of others":       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 2, `there is no kind "ConfigMap"; see portico kinds`},
		"a text":                 {"hello", 2, "this is not a resource: begin with apiVersion"},
		"a list of texts":        {"apiVersion: v1\nkind: List\nitems: [a]\n", 2, "this is not a resource"},
		"no YAML":                {"a: [", 2, "this is not valid YAML"},
		"aliases of aliases":     {"a: &a [" + strings.Repeat("x,", 3000) + "]\nb: [" + strings.Repeat("*a,", 27_000) + "]\n", 2, "this is not valid YAML: line 1: the anchor &a is not taken here"},
		"lists in lists":         {"a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), 2, "nested more than 64 levels deep"},
		"a field twice":          {one + "kind: S3Bucket\n", 2, `key "kind" already set`},
		"nothing":                {"# nothing\n---\n", 2, "-f: there are no resources in -"},
		"a namespace of another": {one + "---\n" + strings.Replace(one, "name: a", "name: a, namespace: search", 1), 2, "the file says namespace search, and -n payments"},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t, newPortal(t).url)
			term.in = strings.NewReader(c.text)
			if _, said := term.run(c.code, "apply", "-n", "payments", "-f", "-"); !strings.Contains(said, c.want) {
				t.Errorf("says %q, want %q", said, c.want)
			}
		})
	}
}

func TestAFolderIsAppliedFileByFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yml": strings.Replace(file, "name: a,", "name: b,", 1), "a.yaml": file,
		"README.md": "hello", "deeper/c.yaml": "hello",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 404, `{"detail": "not found"}`)
	p.on("GET "+buckets+"/b", 404, `{"detail": "not found"}`)
	p.on("POST "+buckets+"?dryRun=All", 200, written("u", ``, ``))
	out, _ := newTerminal(t, p.url).run(0, "apply", "-f", dir, "--dry-run")
	if want := "bucket a in payments created (dry run)\nbucket b in payments created (dry run)\n"; out != want {
		t.Errorf("says %q, want %q", out, want)
	}
	if _, said := newTerminal(t, p.url).run(2, "apply", "-f", t.TempDir()); !strings.Contains(
		said, "has no files that end in .yaml") {
		t.Errorf("says %q", said)
	}
}

func TestWhatGetPrintsCanBeApplied(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?limit=500&namespace=payments", 200, `{"items": [`+bucket("a", "True", "")+`,`+
		bucket("b", "True", "")+`]}`)
	for _, name := range []string{"a", "b"} {
		p.on("GET "+buckets+"/"+name, 200, bucket(name, "True", ""), "ETag", etag)
		p.on("PUT "+buckets+"/"+name, 200, bucket(name, "True", ""))
	}
	for _, format := range []string{"yaml", "json"} {
		term := newTerminal(t, p.url)
		printed, _ := term.run(0, "get", "-n", "payments", "-o", format)
		term.in = strings.NewReader(printed)
		if out, _ := term.run(0, "apply", "-f", "-"); out != "bucket a in payments unchanged\nbucket b in payments "+
			"unchanged\n" {
			t.Errorf("-o %s, applied: %s", format, out)
		}
	}
}

func TestApplyWaitsForAllThatItWrote(t *testing.T) {
	two := file + "---\n" + strings.ReplaceAll(file, "name: a", "name: b")
	for _, c := range []struct {
		name, stream string
		args         []string
		code         int
		want         string
	}{
		{"until all is ready", snapshot(bucket("b", "True", "")), nil, 0, "Ready\nbucket a in payments is ready.\nReady\nbucket b in payments is ready.\n"},
		{
			"and no longer than it may", snapshot(bucket("b", "False", "the name is taken")),
			[]string{"--timeout", "1s"},
			3,
			"portico: bucket b in payments is not ready after 1s (Needs you: The name is taken); it goes on without " +
				"you, look with portico describe\n",
		},
		{"but not without a change", "", []string{"--dry-run"}, 2, "portico: --dry-run changes nothing, so that there is nothing to wait for: leave out --wait\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 404, noSuch)
			p.on("POST "+buckets, 201, bucket("a", "Unknown", ""))
			p.on("GET "+buckets+"/a?watch=true", 200, snapshot(bucket("a", "True", "")))
			p.on("GET "+buckets+"/b", 200, bucket("b", "False", ""), "ETag", etag)
			p.on("PUT "+buckets+"/b", 200, bucket("b", "False", ""))
			p.on("GET "+buckets+"/b?watch=true", 200, c.stream)
			term := newTerminal(t, p.url)
			term.in = strings.NewReader(two)
			if _, said := term.run(c.code,
				append([]string{"apply", "-f", "-", "--wait"}, c.args...)...); !strings.HasSuffix(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

package main

import (
	"fmt"
	"strings"
	"testing"
)

// snapshot returns the first event of a stream.
func snapshot(objects ...string) string {
	return sse("snapshot", `{"items": [`+strings.Join(objects, ",")+`], "complete": true}`)
}

func changed(object string) string { return sse("changed", object) }

func left(uid, reason string) string {
	return sse("deleted", fmt.Sprintf(
		`{"kind": "S3Bucket", "name": "a", "namespace": "payments", "uid": %q, "reason": %q}`, uid, reason))
}

func sse(event, data string) string {
	return "event: " + event + "\ndata: " + strings.ReplaceAll(data, "\n", "") + "\n\n"
}

// generation returns a bucket of generation n whose status observed the generation n-behind.
func generation(n, behind int) string {
	text := strings.Replace(bucket("a", "True", ""), `"generation": 1`, fmt.Sprintf(`"generation": %d`, n), 1)
	return strings.Replace(text, `"observedGeneration": 1`, fmt.Sprintf(`"observedGeneration": %d`, n-behind), 1)
}

func TestWaitingSaysWhatIsInTheWay(t *testing.T) {
	slow, ready := bucket("a", "False", "the name is taken"), bucket("a", "True", "")
	namesake := strings.Replace(ready, `"uid": "u"`, `"uid": "other"`, 1)
	const waits, deleted = "Needs you: The name is taken.\n", "portico: bucket a in payments cannot become ready: it " +
		"was deleted in the meantime\n"
	for _, c := range []struct {
		name, stream string
		is, then     string // the object on the first and the second read
		args         []string
		code         int
		want         string
	}{
		{"until it is ready", snapshot(slow) + changed(slow) + changed(ready), slow, slow, nil, 0, waits + "Ready\nbucket a in payments is ready.\n"},
		{
			"until what was changed a moment ago is ready", snapshot(generation(1, 0)) + changed(
				generation(2, 1)) + changed(generation(2, 0)), generation(2, 1), "", nil, 0,
			"In progress: Your change is not applied yet.\nReady\nbucket a in payments is ready.\n",
		},
		{"what is deleted instead", snapshot(slow) + left("u", "gone"), slow, slow, nil, 1, waits + deleted},
		{"what is deleted before the watch begins", snapshot(), slow, slow, nil, 1, deleted},
		{"what is made again instead", snapshot(slow) + changed(namesake), slow, namesake, nil, 1, waits + deleted},
		{"although a namesake was there before", snapshot(namesake) + left("other", "gone") + changed(ready), slow, slow, nil, 0, "Ready\nbucket a in payments is ready.\n"},
		{
			"what may no longer be seen", snapshot(slow) + left("u", "forbidden"), slow, slow, nil, 6,
			waits + "portico: you no longer have access to bucket a in payments, so that portico cannot see whether " +
				"it is ready: ask who manages access to it\n",
		},
		{"until it is gone", snapshot(slow) + left("u", "gone"), slow, slow, []string{"--for", "deleted"}, 0, waits + "bucket a in payments is deleted.\n"},
		{"until it is gone, and not forbidden", snapshot(slow) + left("u", "forbidden"), slow, slow, []string{"--for", "deleted"}, 6, "ask who manages access to it\n"},
		{"until it is gone, and not one before it", snapshot(slow) + left("other", "gone") + left("u", "gone"), slow, slow, []string{"--for", "deleted"}, 0, "bucket a in payments is deleted.\n"},
		{"until it is gone, although it is made again", snapshot(slow) + changed(namesake), slow, namesake, []string{"--for", "deleted"}, 0, "bucket a in payments is deleted.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, c.is)
			p.then("GET "+buckets+"/a", 200, c.then)
			p.on("GET "+buckets+"/a?watch=true", 200, c.stream)
			if _, said := newTerminal(t, p.url).run(
				c.code, append([]string{"wait", "bucket", "a"}, c.args...)...); !strings.HasSuffix(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
	t.Run("longer than there is time", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 200, slow)
		p.on("GET "+buckets+"/a?watch=true", 200, snapshot(slow))
		_, said := newTerminal(t, p.url).run(3, "wait", "bucket", "a", "--timeout", "2s")
		if !strings.Contains(said, "bucket a in payments is not ready after 2s (Needs you: The name is taken)") {
			t.Errorf("said %q", said)
		}
	})
	t.Run("for what is not there", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 404, `{"detail": "not found"}`)
		newTerminal(t, p.url).run(5, "wait", "bucket", "a")
		newTerminal(t, p.url).run(0, "wait", "bucket", "a", "--for", "deleted")
	})
}

// TestWhatIsChangedOrWaitedForIsNotReadFromACache checks the Cache-Control of the requests to the portal.
func TestWhatIsChangedOrWaitedForIsNotReadFromACache(t *testing.T) {
	for _, args := range [][]string{
		{"wait", "bucket", "a"}, {"apply", "-f", "-"}, {"delete", "bucket", "a", "--yes"}, {"get", "bucket", "a"}, {"describe", "bucket", "a"},
	} {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
		p.on("GET "+buckets+"/a?watch=true", 200, snapshot(bucket("a", "True", "")))
		p.on("GET "+buckets+"/a/checks", 200, `{"state": "unchecked"}`)
		p.on("GET "+buckets+"/a/events", 200, `{"items": []}`)
		p.on("PUT "+buckets+"/a", 200, bucket("a", "True", ""))
		p.on("DELETE "+buckets+"/a", 202, bucket("a", "True", ""))
		term := newTerminal(t, p.url)
		term.in = strings.NewReader(file)
		term.run(0, args...)
		if got := p.headers["GET "+buckets+"/a"].Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%v asks with Cache-Control %q", args, got)
		}
	}
}

func TestARequestWaitsForWhatItMade(t *testing.T) {
	p := newPortal(t)
	p.on("POST "+buckets, 201, strings.Replace(generation(1, 2), `"uid": "u"`, `"uid": "new"`, 1))
	p.on("GET "+buckets+"/a", 200, strings.Replace(generation(1, 2), `"uid": "u"`, `"uid": "new"`, 1))
	p.on("GET "+buckets+"/a?watch=true", 200, snapshot(bucket("a", "True", ""))+left("u", "gone")+
		changed(strings.Replace(bucket("a", "True", ""), `"uid": "u"`, `"uid": "new"`, 1)))
	out, said := newTerminal(t, p.url).run(0, "request", "bucket", "a", "--set", "providerRef=aws", "--wait", "-o",
		"json")
	if said != "Requested bucket a in payments.\nReady\n" || !strings.Contains(out, `"uid": "new"`) {
		t.Errorf("said %q, and shows %s", said, out)
	}
}

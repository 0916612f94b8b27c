//go:build integration

package integration

import (
	"net/http"
	"strings"
	"testing"
)

const mergePatch = "application/merge-patch+json"

func TestRESTEditsABucket(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, name := userToken(t, "payments-dev"), unique("edit")
	remove(t, "payments", name)
	c := admin(t)
	at := "/namespaces/payments/s3buckets/" + name
	spec := bucketBody(name, "")["spec"]
	body := map[string]any{"spec": spec}

	p.call(t, token, "PUT", at, body).want(t, http.StatusPreconditionRequired)
	p.call(t, token, "PUT", at, body, "If-Match", "*").want(t, http.StatusNotFound)
	dry := p.call(t, token, "PUT", at+"?dryRun=All", body, "If-None-Match", "*").want(t, http.StatusOK)
	if nested(dry.body, "spec", "deletionPolicy") != "Delete" || dry.header.Get("ETag") != "" {
		t.Errorf("a dry run shows %s with the ETag %q", dry.raw, dry.header.Get("ETag"))
	}
	made := p.call(t, token, "PUT", at, body, "If-None-Match", "*").want(t, http.StatusCreated)
	first := made.header.Get("ETag")
	if made.header.Get("Location") != "/api/v1"+at || first == "" {
		t.Errorf("made at %q as %s", made.header.Get("Location"), first)
	}
	p.call(t, token, "PUT", at, body, "If-None-Match", "*").want(t, http.StatusPreconditionFailed)

	made.body["spec"].(map[string]any)["versioning"] = "Enabled"
	made.body["metadata"].(map[string]any)["labels"] = map[string]any{"team": "a", "old": "b"}
	second := p.call(t, token, "PUT", at, made.body, "If-Match", first).want(t, http.StatusOK)
	if nested(second.body, "metadata", "labels", "team") != "a" || second.header.Get("ETag") == first ||
		nested(second.body, "metadata", "annotations", "portico.dev/requested-by") != "oidc:payments-dev" {
		t.Errorf("%s as %s", second.raw, second.header.Get("ETag"))
	}
	p.call(t, token, "PUT", at, made.body, "If-Match", first).want(t, http.StatusPreconditionFailed)

	live := newBucket("payments", name)
	if err := c.Get(t.Context(), keyOf(live), live); err != nil {
		t.Fatal(err)
	}
	live.Status.ObservedGeneration = 1
	if err := c.Status().Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	patch := func(query string, with map[string]any, etag string) answer {
		t.Helper()
		return p.call(t, token, "PATCH", at+query, with, "If-Match", etag, "Content-Type", mergePatch)
	}
	labels := map[string]any{"metadata": map[string]any{"labels": map[string]any{"old": nil}}}
	third := patch("", labels, second.header.Get("ETag")).want(t, http.StatusOK) // a changed status does not matter
	if nested(third.body, "metadata", "labels", "old") != nil ||
		nested(third.body, "metadata", "labels", "team") != "a" {
		t.Errorf("labels %v", nested(third.body, "metadata", "labels"))
	}
	patch("", labels, first).want(t, http.StatusPreconditionFailed)
	was := nested(patch("?dryRun=All", map[string]any{"spec": map[string]any{"versioning": "Suspended"}}, "*").want(
		t, http.StatusOK).body, "spec", "versioning")
	is := nested(p.call(t, token, "GET", at, nil).want(t, http.StatusOK).body, "spec", "versioning")
	if was != "Suspended" || is != "Enabled" {
		t.Errorf("a dry run shows %v and leaves %v", was, is)
	}
	wrong := patch("", map[string]any{"spec": map[string]any{"versionning": "x"}}, "*").want(
		t, http.StatusUnprocessableEntity)
	if at, _ := wrong.location(); at != "body.spec.versionning" {
		t.Errorf("a misspelt field is blamed on %q: %s", at, wrong.raw)
	}
	wrong = patch("", map[string]any{"spec": map[string]any{"bucketName": "Bad_Name"}}, "*").want(
		t, http.StatusUnprocessableEntity)
	if at, _ := wrong.location(); !strings.HasPrefix(at, "body.spec") {
		t.Errorf("a bad name is blamed on %q: %s", at, wrong.raw)
	}
	p.call(t, userToken(t, "search-dev"), "PATCH", at, labels, "If-Match", "*", "Content-Type", mergePatch).want(
		t, http.StatusForbidden)
}

func TestRESTDoesNotTakeANamesakeForWhatWasRead(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, name := userToken(t, "payments-dev"), unique("again")
	remove(t, "payments", name)
	at, body := "/namespaces/payments/s3buckets/"+name, bucketBody(name, "")
	first := p.call(t, token, "PUT", at, body, "If-None-Match", "*").want(t, http.StatusCreated)
	letGo(t, name)
	p.call(t, token, "DELETE", at, nil).want(t, http.StatusOK)
	p.call(t, token, "PUT", at, body, "If-None-Match", "*").want(t, http.StatusCreated)
	p.call(t, token, "PUT", at, body, "If-Match", first.header.Get("ETag")).want(t, http.StatusPreconditionFailed)
	p.call(t, token, "PUT", at, first.body, "If-Match", "*").want(t, http.StatusPreconditionFailed) // another UID
	p.call(t, token, "PATCH", at, map[string]any{}, "If-Match", first.header.Get("ETag"), "Content-Type", mergePatch).
		want(t, http.StatusPreconditionFailed)
}

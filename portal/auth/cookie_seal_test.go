package auth

import (
	"strings"
	"testing"
	"time"
)

func TestKeysRotate(t *testing.T) {
	s, cookies := signedIn(t)
	write(t, s.keys, newKey('b')+"\n"+newKey('a')+"\n")
	s.later(sessionKeysCheck)
	s.see(t, cookies, "oidc:alice oidc:dev") // opened with the second key
	s.later(touchEvery)
	s.see(t, cookies, "oidc:alice oidc:dev") // sealed with the first
	write(t, s.keys, newKey('b')+"\n")
	s.later(sessionKeysCheck)
	s.see(t, cookies, "oidc:alice oidc:dev")
	write(t, s.keys, "broken\n")
	s.later(sessionKeysCheck)
	s.see(t, cookies, "oidc:alice oidc:dev")
	write(t, s.keys, newKey('c')+"\n")
	s.later(sessionKeysCheck)
	s.see(t, cookies, "")
}

func TestKeyFilesAreChecked(t *testing.T) {
	for reason, content := range map[string]string{
		"empty": "", "a comment only": "# x\n", "no base64": "???\n", "too short": "c2hvcnQ=\n",
		"a broken second key": newKey('a') + "\nsecret-text\n",
	} {
		path := t.TempDir() + "/keys"
		write(t, path, content)
		if _, err := NewSessionKeys(path, time.Now, nil); err == nil || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if _, err := NewSessionKeys(t.TempDir()+"/none", time.Now, nil); err == nil {
		t.Error("no error for a missing file")
	}
}

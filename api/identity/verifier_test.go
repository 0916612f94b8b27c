package identity

import (
	"fmt"
	"strings"
	"testing"
)

func settings(change func(*Settings)) Settings {
	s := Settings{
		Issuer: "https://login.example.com", Audiences: []string{"rest"}, SignIn: "portal",
		Claims: Claims{Username: "sub", Groups: "groups", Prefix: "oidc:"},
	}
	change(&s)
	return s
}

func TestSettingsThatWouldTakeTokensOfOthers(t *testing.T) {
	for says, change := range map[string]func(*Settings){
		"":                              func(*Settings) {},
		"give a URL":                    func(s *Settings) { s.Issuer = "login.example.com" },
		"it must be https":              func(s *Settings) { s.Issuer = "http://login.example.com" },
		"at least one audience":         func(s *Settings) { s.Audiences = nil },
		"must not be the client":        func(s *Settings) { s.SignIn = "rest" },
		"an audience must not be empty": func(s *Settings) { s.Audiences = []string{"rest", ""} },
		"must not be empty":             func(s *Settings) { s.Claims.Username = "" },
		"neither empty nor begin with":  func(s *Settings) { s.Claims.Prefix = "System:" },
		"must not begin with a blank":   func(s *Settings) { s.Claims.Prefix = " oidc:" },
	} {
		err := settings(change).Check()
		if (err == nil) != (says == "") || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("error = %v, want %q", err, says)
		}
		if _, made := NewVerifier(settings(change), nil); (made == nil) != (says == "") {
			t.Errorf("a verifier with %q: %v", says, made)
		}
	}
	if err := settings(func(s *Settings) { s.Issuer = "http://127.0.0.1:5556/dex" }).Check(); err != nil {
		t.Error(err)
	}
}

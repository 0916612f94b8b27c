package campaign

import (
	"net/http"
	"testing"
)

func TestCookiesThatAreClearedAreNotSent(t *testing.T) {
	a := Answer{Header: http.Header{"Set-Cookie": {"a=1; Path=/", "b=; Max-Age=0", "c=3"}}}
	if got := a.Cookies(); got != "a=1; c=3" {
		t.Errorf("%q", got)
	}
}

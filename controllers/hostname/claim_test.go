package hostname

import (
	"testing"

	"github.com/portico-platform/portico/api/dnsname"
)

func parsed(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCAA(t *testing.T) {
	for name, row := range map[string]struct {
		values   []string
		wildcard bool
		want     bool
	}{
		"Amazon":                             {[]string{`0 issue "amazon.com"`}, false, true},
		"one of its names":                   {[]string{`0 issue "letsencrypt.org"`, `0 issue "awstrust.com"`}, false, true},
		"with parameters":                    {[]string{`0 issue "amazon.com; account=1"`}, false, true},
		"in capitals":                        {[]string{`128 ISSUE "Amazon.com"`}, false, true},
		"another authority":                  {[]string{`0 issue "letsencrypt.org"`}, false, false},
		"nobody":                             {[]string{`0 issue ";"`}, false, false},
		"only where to complain":             {[]string{`0 iodef "mailto:a@example.com"`}, false, true},
		"a name that ends like one":          {[]string{`0 issue "notamazon.com"`}, false, false},
		"wildcards by the same record":       {[]string{`0 issue "amazon.com"`}, true, true},
		"wildcards by their own":             {[]string{`0 issue "letsencrypt.org"`, `0 issuewild "amazonaws.com"`}, true, true},
		"wildcards of another":               {[]string{`0 issue "amazon.com"`, `0 issuewild "letsencrypt.org"`}, true, false},
		"wildcards do not matter for a name": {[]string{`0 issue "amazon.com"`, `0 issuewild ";"`}, false, true},
		"nothing that can be read":           {[]string{"nonsense"}, false, true},
	} {
		if got := caaAllows(row.values, row.wildcard); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

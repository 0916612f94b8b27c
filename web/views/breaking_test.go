package views

import (
	"strings"
	"testing"
)

func TestHostNamesBreakAfterDots(t *testing.T) {
	for name, want := range map[string]string{
		"":                             "",
		"orders":                       "orders",
		"db.abc.rds.amazonaws.com:543": "db.<wbr>abc.<wbr>rds.<wbr>amazonaws.<wbr>com:543",
		`<i class="a.b">`:              `&lt;i class=&#34;a.<wbr>b&#34;&gt;`,
	} {
		var out strings.Builder
		if err := breaking(name).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("%q is rendered as %q, want %q", name, got, want)
		}
	}
}

package guardrails

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TagRules are the keys of tags that an AWSProvider or a Team keeps for the platform.
type TagRules struct {
	By        string
	Forbidden []string
	Enforced  v1alpha1.Tags
}

// Keeps reports whether the key is kept for the platform, ignoring case: AWS allows tags that differ only in case, and
// IAM's tag conditions match either. The exact key of an enforced tag is allowed, because the platform's value wins.
func (r TagRules) Keeps(key string) bool {
	for enforced := range r.Enforced {
		if key != enforced && strings.EqualFold(key, enforced) {
			return true
		}
	}
	return slices.ContainsFunc(r.Forbidden, func(rule string) bool {
		head, all := strings.CutSuffix(rule, "*")
		return strings.EqualFold(key, rule) ||
			(all && len(key) >= len(head) && strings.EqualFold(key[:len(head)], head))
	})
}

// tags refuses the keys that Keeps finds by these lists. Keys that an edit leaves alone pass.
func (j judge) tags(forbidden, enforced string) Expression {
	name := j.broken("tags")
	return Expression{
		Name: name,
		Bad: fmt.Sprintf(
			`!variables.judges || !has(variables.s.tags) ? [] : variables.s.tags.filter(k, !(has(variables.old.tags) && k in variables.old.tags) && (`+
				`%s.exists(f, f.endsWith('*') ? k.lowerAscii().startsWith(f.substring(0, size(f) - 1).lowerAscii()) : k.lowerAscii() == f.lowerAscii()) || `+
				`%s.exists(e, e != k && e.lowerAscii() == k.lowerAscii())))`, forbidden, enforced),
		Message: `'spec.tags: ' + ` + j.by + ` + ' keeps these keys for the platform: ' + ` +
			shortenCEL("variables."+name) +
			` + '. Remove them, or ask a platform admin to take them off forbiddenTagKeys and enforcedTags'`,
	}
}

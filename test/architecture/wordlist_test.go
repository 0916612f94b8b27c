package architecture

import "regexp"

// surfaces are the files in which the glossary's terms are required: their readers do not know Kubernetes.
var surfaces = []string{
	"web/views/", "portal/pages/", "portal/form/", "cmd/portico/", "docs/user-guide.md",
	"docs/cli.md",
}

// exempt matches names and texts of other projects that contain a banned word or phrase.
var exempt = regexp.MustCompile(
	`(?i)identity providers?|this field may not be empty|told apart|(?:is|are) made (?:of|up)|\(\?:must\|may not\)|may not be specified when|application/[a-z.+-]+|application load balancers?|object storage|object lock|spec\.replicas|--replicas|\bprovider's (?:address|page)`)

// phrases are phrases that readers do not understand at once, with their replacements.
var phrases = []phrase{
	banned("anew", `anew`, `"again"`),
	banned("become of", `becom(?:e|es|ing) of`, `"happens to"`),
	banned("let go", `let(?:s|ting)? go`, `"stops managing", "releases" or "removes"`),
	banned("to be had", `to be had|can be had`, `"available"`),
	banned("astray", `astray`, `what happens`),
	banned("of before", `of before`, `"earlier" or "previous"`),
	banned("as a rule", `as a rule`, `"usually"`),
	banned(", that is", `, that is,?`, `the plain word alone, or "or"`),
	banned("how far", `how far (?:it|the|an?)`, `"progress"`),
	banned("in the way", `in the way`, `"problem", or the reason`),
	banned("come about", `comes? about|came about`, `"happen"`),
	banned("call off", `call(?:s|ed|ing)? (?:\w+ ){0,2}off`, `"cancel"`),
	banned("content with", `(?:is|are) content with`, `"accepts" or "matches"`),
	banned("go by", `go(?:es)? by`, `"use" or "follow"`),
	banned("stand there", `stands? (?:there|here)`, `"is"`),
	banned("whoever", `whoever|whichever`, `"anyone who" or "the person who"`),
	banned("be told", `(?:is|are|was|were|be) told`, `"is shown" or "is reported"`),
	banned("hand on", `hand(?:s|ed)? on`, `"pass"`),
	banned("may", `(?:you|who|whoever|teams?|members?|portal|operator|caller|nobody|one|they) may|may not`,
		`"can", or "have access to"`),
	banned("look yourself", `look(?:s|ed)? yourself`, `"check it yourself"`),
	banned("not looked at", `not (?:been )?looked at`, `"not checked"`),
	banned("in place of", `in place of`, `"instead of"`),
	banned("is to be", `(?:is|are) to be`, `"must be", "will be" or a verb in the active voice`),
	banned("without a word", `without a word`, `"silently"`),
	banned("the like", `the like`, `"similar"`),
	banned("bring with", `bring(?:s)? (?:\w+ )?with|brought with`, `"includes"`),
	banned("take back", `tak(?:e|es|en|ing) (?:it )?back|took (?:it )?back`, `"adopt", "undo" or "withdraw"`),
	banned("is made", `(?:is|are|was|were|be|been|it|Portico) made`, `"is created"`),
	banned("not begun", `not begun`, `"not started"`),
	banned("is lacking", `(?:is|are) lacking`, `"is missing"`),
	banned("kept by", `(?:is|are) kept by`, `"is managed by"`),
	banned("stop to", `stops? to`, `"stops" and -ing`),
	banned("wish", `wish(?:es)?`, `"want" or "request"`),
	banned("besides those", `besides (?:those|that|what)|beside (?:those|that|what)`, `"in addition to"`),
	banned("for good", `for good`, `"permanently"`),
	banned("for which it takes", `for which it takes`, `"needs"`),
	banned("sees to it", `sees? to it`, `"makes sure"`),
	banned("mend", `mend(?:s|ed|ing)?`, `"fix" or "repair"`),
	banned("by yourself", `by yourself`, `"yourself"`),
	banned("the way to", `(?:lead|leads) the way`, `"shows"`),
	banned("limit of numbers", `no limit of numbers`, `"No quota: unlimited"`),
	banned("cluster would accept", `the cluster would accept`, `"Looks good. Nothing has been requested yet"`),
	banned("is like that", `is like that`, `"no matches"`),
	banned("not measured yet", `not measured yet`, `"not enough data yet"`),
	banned("that the hostname is for", `that the \w+ is for`, `the noun itself`),
	banned("is required: give", `is required: give`, `"Enter a …"`),
	banned("conditions of theirs", `of theirs`, `"their"`),
	banned("no way back", `no way back`, `"This cannot be undone"`),
	banned("goes with it", `goes with (?:it|them)`, `"is deleted with it"`),
	banned("by now", `by now`, `"meanwhile" or nothing`),
}

// banned returns a phrase that matches whole words, ignoring case.
func banned(label, pattern, instead string) phrase {
	return phrase{label, instead, regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`)}
}

package catalog

import (
	"regexp"
	"slices"
	"strings"
)

// Required is the message for a missing value.
const Required = "is required"

// inPlainWords returns Kubernetes' validation message in our words. It returns unknown messages, such as those of
// rules, unchanged.
func inPlainWords(detail string) string {
	for _, s := range sayings {
		if m := s.says.FindStringSubmatchIndex(detail); m != nil {
			return string(s.says.ExpandString(nil, s.words, detail, m))
		}
	}
	if m := mustMatch.FindStringSubmatch(detail); m != nil {
		return formOf(m[1])
	}
	if m := mustBe.FindStringSubmatch(detail); m != nil {
		return wanted(m[1]) + quoted(m[1], m[2])
	}
	return detail
}

// quota matches the API server's error for a used-up ResourceQuota.
var quota = regexp.MustCompile(`exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)`)

// QuotaWords returns a quota's error in our words, and other admission errors unchanged: policies' messages are written
// for users.
func QuotaWords(words string) string {
	return quota.ReplaceAllString(words, "the quota $1 has no room for $2: $3 is used, and $4 is the limit")
}

// saying matches a whole message of Kubernetes and has our words for it, with its groups as $1.
type saying struct {
	says  *regexp.Regexp
	words string
}

// ofSchema matches a message of schema validation, which begins with the path: spec.n in body should be ….
func ofSchema(says, words string) saying {
	return saying{regexp.MustCompile(`(?s)^.* in body ` + says + `$`), words}
}

// ofName matches a message about the characters of a name, with any following examples and regular expression, and any
// preceding part of a label's key.
func ofName(says, words string) saying {
	return saying{regexp.MustCompile(`(?s)^(?:(?:name|prefix) part )?(?:a |an )?` + says +
		`(?: \((?:e\.g\.|regex) .*)?$`), words}
}

// whole matches exactly the message says.
func whole(says, words string) saying { return saying{regexp.MustCompile(`(?s)^` + says + `$`), words} }

var (
	mustMatch = regexp.MustCompile(`(?s)^.* in body should match '(.*)'$`)
	mustBe    = regexp.MustCompile(`(?s)^.* in body must be of type ([^ :,]+(?:,[^ :,]+)*)(?:: "(.*)"|, because: .*)?$`)
)

const (
	ends     = "start and end with a letter or a digit"
	noField  = "no such field: check the spelling"
	empty    = "cannot be empty"
	oneShape = "does not fit any of the forms that are allowed: see the documentation of the field"
)

var sayings = []saying{
	// numbers
	ofSchema(`should be less than or equal to (\S+)`, "use $1 or less"),
	ofSchema(`should be less than (\S+)`, "use less than $1"),
	ofSchema(`should be greater than or equal to (\S+)`, "use $1 or more"),
	ofSchema(`should be greater than (\S+)`, "use more than $1"),
	ofSchema(`should be a multiple of (\S+)`, "use a multiple of $1"),
	whole(`must be less than or equal to (\S+)`, "use $1 or less"),
	whole(`must be greater than or equal to zero`, "use 0 or more"),
	whole(`must be greater than or equal to (\S+)`, "use $1 or more"),
	whole(`must be between (\S+) and (\S+), inclusive`, "use a number from $1 to $2"),
	whole(`should be a non-negative integer`, "use 0 or more"),
	whole(`must be a valid decimal integer in canonical form`, "must be a whole number"),
	whole(`must not be equal to (.+)`, "use another value than $1"),
	// lengths
	ofSchema(`should be at least 1 chars long`, empty),
	ofSchema(`should be at least (\d+) chars long`, "use at least $1 characters"),
	ofSchema(`should be at most (\d+) chars long`, "use at most $1 characters"),
	whole(`(?:name part |prefix part )?(?:must|may not) be (?:no )?more than 1 (?:character|byte)s?`,
		"use one character"),
	whole(`(?:name part |prefix part )?(?:must|may not) be (?:no )?more than (\d+) (?:character|byte)s?`,
		"use at most $1 characters"),
	whole(`value is too long`, "is too long"),
	whole(`(?:environment variable name |name part |prefix part )?must (?:be non-empty|not be empty)`, empty),
	// lists and maps
	ofSchema(`(?:should|must) have at most 1 (?:items?|properties)`, "use one entry at most"),
	ofSchema(`(?:should|must) have at most (\d+) (?:items?|properties)`, "use at most $1 entries"),
	whole(`must have at most 1 items?`, "use one entry at most"),
	whole(`must have at most (\d+) items?`, "use at most $1 entries"),
	ofSchema(`should have at least 1 (?:items|properties)`, "add at least one entry"),
	ofSchema(`should have at least (\d+) (?:items|properties)`, "add at least $1 entries"),
	whole(`must have at least 1 items?`, "add at least one entry"),
	whole(`must have at least (\d+) items?`, "add at least $1 entries"),
	whole(`has too (many|few) items`, "has too $1 entries"),
	ofSchema(`shouldn't contain duplicates`, "has an entry twice: keep one"),
	ofSchema(`can't have additional items`, "has more entries than allowed"),
	whole(`array doesn't allow for additional items`, "has more entries than allowed"),
	whole(`must be an object for an array of list-type map`, "each entry must be an object with fields"),
	// objects and schemas
	ofSchema(`is a forbidden property`, noField),
	ofSchema(`failed all pattern properties`, noField),
	ofSchema(`is required`, Required),
	ofSchema(`should be one of \[(.*)\]`, "choose one of: $1"),
	whole(`\S+ is an invalid type name`, "has a type that its schema does not know: tell a platform admin"),
	whole(`factor MultipleOf declared for \S+ must be positive: .*`, "has a schema that cannot be used: tell a "+
		"platform admin"),
	whole(`".*" must (?:not )?validate .*`, oneShape),
	whole(`".*" has a dependency on (.+)`, "needs $1 too"),
	whole(`invalid type conversion in .*`, "is no number that can be read"),
	whole(`must be a string`, "must be text: put it in quotes"),
	// names
	ofName(
		`(?:lowercase )?RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', .*?, and must start and end with an alphanumeric character`, "use lower-case letters, digits, hyphens, dots and underscores; "+ends),
	ofName(`lowercase RFC 1123 subdomain must consist of .*?, and must start and end with an alphanumeric character`,
		"use lower-case letters, digits, hyphens and dots; "+ends),
	ofName(`RFC 1123 subdomain must consist of .*?, and must start and end with an alphanumeric character`,
		"use letters, digits, hyphens and dots; "+ends),
	ofName(`lowercase RFC 1123 label must consist of .*?, and must start and end with an alphanumeric character`,
		"use lower-case letters, digits and hyphens; "+ends),
	ofName(`DNS-1035 label must consist of .*?, and end with an alphanumeric character`,
		"use lower-case letters, digits and hyphens; start with a letter, and end with a letter or a digit"),
	ofName(`wildcard DNS-1123 subdomain must start with .*?, and end with an alphanumeric character`,
		"use lower-case letters, digits, hyphens and dots after *., such as *.example.com"),
	ofName(`wildcard DNS-1123 subdomain must start with .*? and end with an alphanumeric character`,
		"use lower-case letters, digits, hyphens and dots after *., such as *.example.com"),
	ofName(
		`valid label must be an empty string or consist of .*?, and must start and end with an alphanumeric character`,
		"use letters, digits, hyphens, underscores and dots; "+ends),
	{
		regexp.MustCompile(
			`(?s)^a valid label key must consist of .* with an optional DNS subdomain prefix and '/'.*$`),
		"use one slash at most: a domain in front of it and a name behind it, such as example.com/name",
	},
	ofName(
		`must consist of alphanumeric characters, '-', '_' or '\.', and must start and end with an alphanumeric character`, "use letters, digits, hyphens, underscores and dots; "+ends),
	ofName(`valid percent string must be .*?`, "use a percentage, such as 50%"),
	ofName(`valid HTTP header must consist of .*?`, "use letters, digits and hyphens"),
	ofName(`valid environment variable name must consist only of printable ASCII characters other than '='`,
		"use printable ASCII characters, but no ="),
	ofName(`valid environment variable name must consist of .*?, and must not start with a digit`,
		"use letters, digits, underscores, hyphens and dots; do not start with a digit"),
	ofName(`valid config key must consist of .*?`, "use letters, digits, hyphens, underscores and dots"),
	ofName(`valid C identifier must start with .*?`, "use letters, digits and underscores; do not start with a digit"),
	whole(`must not contain dots`, "leave out dots"),
	whole(`must contain only alpha-numeric characters \(a-z, 0-9\), and hyphens \(-\)`,
		"use lower-case letters, digits and hyphens"),
	whole(`must contain at least one letter \(a-z\)`, "use at least one letter"),
	whole(`must not contain consecutive hyphens`, "do not put two hyphens next to each other"),
	whole(`must not begin or end with a hyphen`, "do not start or end with a hyphen"),
	whole(`(?:must|may) not (?:be|start with|contain) '(.+)'`, "leave out $1"),
	whole(`should be a domain with at least two segments separated by dots`,
		"use a domain with a dot in it, such as example.com"),
	whole(`should be a domain with at least three segments separated by dots`,
		"use a domain with two dots in it, such as shop.example.com"),
	whole(`must be a domain-prefixed (?:path|key) .*`, "put a domain and a slash in front, such as example.com/name"),
	whole(`must include a prefix .*`, "put a domain and a slash in front, such as example.com/name"),
	whole(`Invalid path \(regex .*`, "use a path of a URL after the slash"),
	// metadata
	whole(`name or generateName is required`, Required),
	whole(`field is immutable`, "cannot be changed"),
	whole(`not allowed on this type`, "leave it out: objects of this kind belong to no namespace"),
	whole(`must be specified for an update`, "is missing: read the object again, and send its version along"),
	whole(`must not be decremented`, "cannot become smaller"),
	whole(`no new finalizers can be added if the object is being deleted, .*`,
		"cannot get a new finalizer while the object is being deleted"),
	whole(`finalizer (\S+) and (\S+) cannot be both set`, "use one of $1 and $2"),
	whole(`must be <group>/<version> or <version>`, "must be a group and a version, such as portico.dev/v1alpha1"),
	whole(`(.+) is disallowed from being an owner`, "$1 cannot own other objects"),
	whole(`Only one reference can have Controller set to true\. .*`, "only one owner can be the controller"),
	whole("must be specified when `operator` is 'In' or 'NotIn'", "is required with the operators In and NotIn"),
	whole("may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
		"leave it out with the operators Exists and DoesNotExist"),
	whole(`not a valid selector operator`, "choose one of: In, NotIn, Exists, DoesNotExist"),
	whole(`invalid character (.+) \(at position \d+\)`, "leave out the character $1"),
	// rules
	whole(`some validation rules were not checked because the object was invalid; .*`, Unchecked),
	whole(`validation failed due to running out of cost budget, .*`, "is too large to be checked: make it smaller"),
	whole(`'.*': no further validation rules will be run due to call cost exceeds limit for rule: .*`,
		"is too large to be checked: make it smaller"),
	whole(`runtime cost could not be calculated for validation rule: .*`, "could not be checked: try again"),
	whole(`'.*': call arguments did not match a supported operator, function or macro signature for rule: (.+)`,
		"could not be checked: $1"),
	whole(`.* evaluating rule: (.+)`, "could not be checked: $1"),
	whole(`rule compil(?:er initialization|e) error: .*`, "has a rule that cannot be checked: tell a platform admin"),
	whole(`failed rule: (.+)`, "breaks the rule $1"),
}

// Unchecked is the message for an object with errors for which the API server skipped the rules of its kind.
const Unchecked = "more may be wrong: some rules are checked once the rest is right"

// types are our names of a schema's types and formats.
var types = map[string]string{
	"string": "text", "integer": "a whole number", "int32": "a whole number", "int64": "a whole number",
	"number": "a number", "float": "a number",
	"double": "a number", "boolean": "true or false", "array": "a list", "object": "an object with fields",
	"null":      "empty",
	"date-time": "a time, such as 2026-01-31T12:00:00Z", "date": "a date, such as 2026-01-31",
	"duration": "a duration, such as 5m",
	"byte":     "Base64", "uri": "a URL", "email": "an e-mail address", "hostname": "a hostname",
	"ipv4": "an IPv4 address", "ipv6": "an IPv6 address",
	"cidr": "an address range, such as 10.0.0.0/16", "uuid": "a UUID",
}

// wanted returns which type a value must have; several are separated by commas.
func wanted(list string) string {
	var all []string
	for t := range strings.SplitSeq(list, ",") {
		if words, ok := types[t]; ok {
			t = words
		}
		all = append(all, t)
	}
	return "must be " + strings.Join(all, " or ")
}

// plain are the types whose values are strings when quoted.
var plain = []string{"number", "integer", "boolean"}

// quoted returns the advice to quote a value of the type is, if strings are allowed.
func quoted(list, is string) string {
	if slices.Contains(strings.Split(list, ","), "string") && slices.Contains(plain, is) {
		return ": put it in quotes"
	}
	return ""
}

// forms describe the values that match the patterns of our schemas.
var forms = map[string]string{
	`^(/dev/)?[a-z]+[0-9]*$`:          "use the name of a device, such as /dev/sdf or xvda",
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`: "use lower-case letters, digits and hyphens; " + ends,
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`: "use lower-case letters, digits, hyphens and dots; " +
		ends,
	`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`: "use the name of an AWS region, such as eu-west-1",
	`^sg-[0-9a-z]+$`: "use the ID of a security group, such as " +
		"sg-0123456789abcdef0",
	`^([*]|sg-[0-9a-z]+)$`: "use the ID of a security group, such as " +
		"sg-0123456789abcdef0, or * for all",
	`^([*]|subnet-[0-9a-z]+)$`: "use the ID of a subnet, such as " +
		"subnet-0123456789abcdef0, or * for all",
	`^([*]|ami-[0-9a-f]{8,17})$`: "use the ID of an image, such as " +
		"ami-0123456789abcdef0, or * for all",
	`^[a-z0-9.-]*[*]?[a-z0-9.-]*$`: "use a size such as t3.micro; one * stands for any " +
		"characters, as in t3.*",
	`^[0-9A-Za-z.-]*[*]?[0-9A-Za-z.-]*$`: "use a version such as 16.4; one * stands for any " +
		"characters, as in 16.*",
	`^(self|amazon|[0-9]{12})$`: "use self, amazon, or the 12 digits of an AWS account",
	`^subnet-[0-9a-z]+$`:        "use the ID of a subnet, such as subnet-0123456789abcdef0",
	`^ami-[0-9a-f]{8,17}$`:      "use the ID of an image, such as ami-0123456789abcdef0",
	`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`:                                             "use the ARN of a queue, such as arn:aws:sqs:eu-west-1:123456789012:orders",
	`^([a-zA-Z0-9-]+[.][a-zA-Z0-9.-]+|[a-zA-Z0-9.-]+:[0-9]+|localhost)(/[a-z0-9._-]+)*/([*]|[a-z0-9._-]+)$`: "use a registry and a repository, such as ghcr.io/shop/web, or registry.example.com/* for all of it",
	`^[a-z0-9.-]+$`: "use lower-case letters, digits, hyphens and dots",
	`^[0-9]{12}$`:   "use the 12 digits of an AWS account",
	`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`: "use the ARN of an IAM role, such as " +
		"arn:aws:iam::123456789012:role/shop",
	`^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$`: "use the ARN of an IAM policy, such as " +
		"arn:aws:iam::123456789012:policy/portico-pods-boundary",
	`^arn:[a-z-]+:iam::[0-9]{12}:oidc-provider/.+$`: "use the ARN of an IAM identity provider, such as " +
		"arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF",
	`^[0-9A-Za-z][A-Za-z0-9_-]*$`:  "use letters, digits, hyphens and underscores; begin with a letter or digit",
	`^https?://[^ ]+$`:             "use a URL that begins with https:// or http://",
	`^Z[0-9A-Z]*$`:                 "use the ID of a hosted zone of Route 53, such as Z0123456789ABCDEFGHIJ",
	`^[A-Za-z_][A-Za-z0-9_]*$`:     "use letters, digits and underscores; do not start with a digit",
	`^[A-Za-z_.-][A-Za-z0-9_.-]*$`: "use letters, digits, underscores, hyphens and dots; do not start with a digit",
	`^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}([.]fifo)?$`: "use the ARN of a " +
		"queue, such as arn:aws:sqs:eu-west-1:123456789012:orders",
	`^([*]|arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+)$`: "use the ARN of a " +
		"queue, such as arn:aws:sqs:eu-west-1:123456789012:orders, or * for all",
	`^([*]|[*]?[^*:/@\s]*@[A-Za-z0-9.-]+|https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^*@\s]*[*]?)?)$`: "use a mail address, such as team@example.com or *@example.com, a URL such as https://hooks.example.com/orders or https://hooks.example.com/*, or * for all",
	`^[^*]*[*]?[^*]*$`: "use one * at most: it stands for any characters",
	`^([*]|arn:aws[a-z-]*:(sns|s3|events):[^*]*[*]?[^*]*)$`: "use the ARN of a topic, bucket or EventBridge rule, " +
		"such as arn:aws:sns:eu-west-1:123456789012:orders, with one * at most for any characters, or * for all",
	`^arn:aws[a-z-]*:(sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+([.]fifo)?|s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|events:[a-z0-9-]+:[0-9]{12}:rule/[A-Za-z0-9_./-]+)$`: "use the ARN of a topic, bucket or EventBridge rule, such as arn:aws:sns:eu-west-1:123456789012:orders",
	`^[^\s@:/]+@[A-Za-z0-9.-]+$`:                                                                                        "use a mail address, such as team@example.com",
	`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\s#@]*)?$`:                                                                "use a URL that begins with https://, such as https://hooks.example.com/orders",
	`^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?$`:                                                 "use a domain in lower case, such as shop.example.com",
	`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`: "use a number, with a unit if you like: 500m or 2 of CPU, 256Mi or 1Gi of memory",
}

// formOf describes the values that match a pattern.
func formOf(pattern string) string {
	if words, ok := forms[pattern]; ok {
		return words
	}
	return "does not have the right form: it must match " + pattern
}

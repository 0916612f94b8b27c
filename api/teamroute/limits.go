// Package teamroute says what a team's HTTPRoute or GRPCRoute at a shared load balancer may hold. The AWS Load Balancer
// Controller builds one model of all routes of a load balancer: one rule that it, or AWS, does not take stops the
// changes of all teams. So this is a list of what is taken, and all else is refused: at admission by the policies that
// config/generate writes of it, and by the operator, which closes the hostname of a route that is there all the same.
package teamroute

import "fmt"

// Limits of a rule. AWS: "Quotas for your Application Load Balancers" and the references of RuleCondition, the
// configurations of its fields, ForwardActionConfig and RedirectActionConfig. Controller: AWS Load Balancer Controller
// 3.5, the file below pkg/gateway.
const (
	// MaxValue is the length of a path pattern, a host, or a value of a header or query parameter. AWS: each
	// ConditionConfig.
	MaxValue = 128
	// MaxPrefix is that of a path prefix: the controller appends "/*". Controller: routeutils/route_rule_condition.go.
	MaxPrefix = MaxValue - len("/*")
	// MaxMethod is that of a gRPC service and method together: the controller joins them as /service/method.
	// Controller: the same file.
	MaxMethod = MaxValue - len("//")
	// MaxHeaderName is the length of a header's name. AWS: HttpHeaderConditionConfig.
	MaxHeaderName = 40
	// MaxConditionValues is how many values one condition has. AWS: listener rules, "comparison strings per condition".
	MaxConditionValues = 3
	// MaxRuleValues is how many all conditions of a rule have, the host among them. AWS: quota "Condition values per
	// rule".
	MaxRuleValues = 5
	// MaxTargetGroups is how many a rule forwards to. AWS: quota "Target groups per action".
	MaxTargetGroups = 5
	// MaxWeight of a backend. Controller: routeutils/backend.go, which then does nothing for any route; AWS:
	// TargetGroupTuple.
	MaxWeight = 999
)

// httpsPort is that of the only listener for routes of teams: a redirect to it, without more, is a loop. AWS:
// RedirectActionConfig, "you must modify at least one of protocol, port, hostname or path".
const httpsPort = 443

// hostHeader is the name of the header that no condition of a header can have. AWS: HttpHeaderConditionConfig.
const hostHeader = `^(?i:host)$`

// Characters, for the brackets of a regular expression.
const (
	// pathCharacters of a path pattern. AWS: PathPatternConditionConfig.
	pathCharacters = `A-Za-z0-9_.$/~"'@:+&-`
	// rewrittenCharacters of a path whose prefix is replaced: the controller makes a regular expression of it.
	// Controller: routeutils/route_rule_transform.go.
	rewrittenCharacters = `A-Za-z0-9_./~"'@:&-`
	// targetCharacters of a path that a redirect or rewrite leads to: what can be printed, but for what the controller
	// refuses (* and ?), what AWS takes for a variable (# and $) and for an escape. Controller:
	// routeutils/route_rule_action.go; AWS: RedirectActionConfig.
	targetCharacters = `!"%-)+->@-\[\]-~`
	// queryCharacters of a query parameter. AWS: QueryStringConditionConfig.
	queryCharacters = `A-Za-z0-9_.$/~"'@:+&()!,;=-`
	// headerCharacters of a header's value, which a comma parts. AWS: HttpHeaderConditionConfig; Controller: the
	// commas, and backslashes.
	headerCharacters = ` -)+\-.->@-\[\]-~`
	// nameCharacters of a header's name. AWS: HttpHeaderConditionConfig.
	nameCharacters = "A-Za-z0-9!#$%&'+.^_`|~-"
)

// A value has one wildcard at most, so that a rule has not more of them than of values. AWS: quota "Condition wildcards
// per rule".
var (
	exactPath     = fmt.Sprintf(`^/[%[1]s]*[*?]?[%[1]s]*$`, pathCharacters)
	prefixPath    = fmt.Sprintf(`^/[%s]*$`, pathCharacters)
	rewrittenPath = fmt.Sprintf(`^/[%s]*$`, rewrittenCharacters)
	targetPath    = fmt.Sprintf(`^/[%s]*$`, targetCharacters)
	targetPrefix  = fmt.Sprintf(`^[%s]*$`, targetCharacters)
	headerName    = fmt.Sprintf(`^[%s]+$`, nameCharacters)
	headerValue   = fmt.Sprintf(`^%[1]s(,%[1]s){0,%[2]d}$`, wild(headerCharacters), MaxConditionValues-1)
	queryName     = fmt.Sprintf(`^[%s]+$`, queryCharacters)
	queryValue    = fmt.Sprintf(`^%s$`, wild(queryCharacters))
)

// wild returns the pattern of a text that is not empty, with one wildcard at most.
func wild(characters string) string {
	return fmt.Sprintf(`([%[1]s]+[*?]?[%[1]s]*|[*?][%[1]s]*)`, characters)
}

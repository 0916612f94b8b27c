package teamroute

import "fmt"

// Kinds of routes.
const (
	HTTP = "HTTPRoute"
	GRPC = "GRPCRoute"
)

// Parts of a route that a row is about, as the fields of its spec, or of each of its rules, are called.
const (
	ofHostnames = "hostnames"
	ofRules     = "rules"
	ofMatches   = "matches"
	ofFilters   = "filters"
	ofBackends  = "backendRefs"
)

// row is a line of the table: a test that each part of a route of these kinds has to pass.
type row struct {
	name  string
	kinds []string
	of    string
	test  test
	// says is what is wrong and what to do; {} is replaced by the part's value in the field shows.
	says, shows string
}

// onlyNew are rows about features that some load balancers do not accept, or might not, and that cannot be checked
// without affecting all teams. Admission refuses them in new routes; a hostname whose route already has them stays
// open.
var onlyNew = []string{"pathType", "headerType", "queryType", "redirectLoop", "repeatedBackend"}

var (
	both     = []string{HTTP, GRPC}
	onlyHTTP = []string{HTTP}
	onlyGRPC = []string{GRPC}
)

// rows is the table.
var rows = []row{
	{"hostname", both, ofHostnames, text{"", "", MaxValue}, fmt.Sprintf("the hostname {} is longer than the %d characters that the load balancer compares. Use a shorter one", MaxValue), ""},
	{
		"backend", both, ofBackends,
		all{oneOf{"kind", []string{"Service"}}, oneOf{"group", []string{""}}},
		"a backend of kind {} cannot be used at a load balancer that other teams use too. Name a Service", "kind",
	},
	{
		"weight", both, ofBackends,
		atMost{"weight", MaxWeight},
		fmt.Sprintf("the weight {} of a backend is more than %d, which the load balancer takes. Use smaller weights "+
			"in the same proportion", MaxWeight), "weight",
	},
	{
		"backends", both, ofRules,
		count{ofBackends, MaxTargetGroups},
		fmt.Sprintf("a rule has more than %d backends, which the load balancer takes. Use fewer", MaxTargetGroups), "",
	},
	{
		"repeatedBackend", both, ofRules,
		distinct{},
		"a rule names a Service and port twice, which the load balancer may refuse. Name it once, with the weight of " +
			"both; if they are of two namespaces, name the namespace of each", "",
	},
	{
		"filter", onlyHTTP, ofFilters,
		oneOf{"type", []string{"RequestRedirect", "URLRewrite"}},
		"the load balancer has no filter {}; it has RequestRedirect and URLRewrite. Take the filter out, and do in " +
			"your app what it should do", "type",
	},
	{
		"grpcFilter", onlyGRPC, ofFilters,
		oneOf{"type", nil},
		"the load balancer has no filter {} for gRPC. Take the filter out, and do in your app what it should do",
		"type",
	},
	{
		"redirectStatus", onlyHTTP, ofFilters,
		where{"type", "RequestRedirect", all{oneNumber{"requestRedirect.statusCode", []int64{301, 302}}}},
		"the load balancer redirects with the status 301 or 302, and not {}. Use one of them",
		"requestRedirect.statusCode",
	},
	{
		"redirect", onlyHTTP, ofFilters,
		where{"type", "RequestRedirect", some{[]string{
			"requestRedirect.scheme", "requestRedirect.hostname", "requestRedirect.port",
			"requestRedirect.path.replaceFullPath",
		}}},
		"a redirect leads to where the request came from, which the load balancer refuses. Set its hostname, " +
			"path.replaceFullPath, or a port other than 443", "",
	},
	{
		"redirectScheme", onlyHTTP, ofFilters,
		where{"type", "RequestRedirect", oneOf{"requestRedirect.scheme", []string{"https"}}},
		"a redirect leads to the scheme {}, which the load balancer refuses of an HTTPS listener. Leave the scheme out",
		"requestRedirect.scheme",
	},
	{
		"redirectHost", onlyHTTP, ofFilters,
		where{"type", "RequestRedirect", text{"requestRedirect.hostname", "", MaxValue}},
		fmt.Sprintf("a redirect leads to the hostname {}, which is longer than the %d characters that the load "+
			"balancer takes. Use a shorter one", MaxValue), "requestRedirect.hostname",
	},
	{
		"redirectLoop", onlyHTTP, ofFilters,
		where{"type", "RequestRedirect", either{
			some{[]string{"requestRedirect.hostname", "requestRedirect.path.replaceFullPath"}},
			otherNumber{"requestRedirect.port", httpsPort},
		}},
		"a redirect leads from HTTPS to HTTPS at the same hostname and path, a loop which the load balancer refuses. " +
			"Set its hostname, path.replaceFullPath, or a port other than 443; " +
			"requests by HTTP are redirected to HTTPS already", "",
	},
	{"redirectPath", onlyHTTP, ofFilters, target("requestRedirect.path"), "the path of a redirect " + targetSays, ""},
	{"rewritePath", onlyHTTP, ofFilters, target("urlRewrite.path"), "the path of a rewrite " + targetSays, ""},
	{
		"rewritten", onlyHTTP, ofRules,
		rewritten{},
		"a rule replaces the prefix of a path that has a character besides letters, digits and _./~\"'@:&-, which " +
			"the load balancer cannot. Use another path", "",
	},
	{
		"pathType", onlyHTTP, ofMatches,
		oneOf{"path.type", []string{"Exact", "PathPrefix"}},
		"a path of type {} cannot be checked before all teams depend on it. Use Exact or PathPrefix", "path.type",
	},
	{
		"prefix", onlyHTTP, ofMatches,
		where{"path.type", "PathPrefix", text{"path.value", prefixPath, MaxPrefix}},
		fmt.Sprintf("the path prefix {} is not one that the load balancer takes: at most %d letters, digits and "+
			"_-.$/~\"'@:+&, and no wildcard. Use such a prefix", MaxPrefix), "path.value",
	},
	{
		"path", onlyHTTP, ofMatches,
		where{"path.type", "Exact", text{"path.value", exactPath, MaxValue}},
		fmt.Sprintf("the path {} is not one that the load balancer takes: at most %d letters, digits and "+
			"_-.$/~\"'@:+&, and one wildcard * or ?. Use such a path", MaxValue), "path.value",
	},
	{
		"headerType", both, ofMatches,
		each{"headers", oneOf{"type", []string{"Exact"}}},
		"a regular expression for a header cannot be checked before all teams depend on it. Use the type Exact", "",
	},
	{
		"queryType", onlyHTTP, ofMatches,
		each{"queryParams", oneOf{"type", []string{"Exact"}}},
		"a regular expression for a query parameter cannot be checked before all teams depend on it. Use the " +
			"type Exact", "",
	},
	{
		"hostHeader", both, ofMatches,
		each{"headers", noneLike{"name", hostHeader}},
		"the header Host is not one that the load balancer compares. Take it out, and name the hostname in " +
			"spec.hostnames", "",
	},
	{
		"header", both, ofMatches,
		each{"headers", where{
			"type", "Exact",
			all{text{"name", headerName, MaxHeaderName}, text{"value", headerValue, MaxValue}},
		}},
		fmt.Sprintf("a header is not one that the load balancer compares: its name has to have at most %d "+
			"characters, and its value at most %d printable characters without a backslash, which commas part into "+
			"at most %d values with one wildcard each. Use such a header", MaxHeaderName, MaxValue, MaxConditionValues),
		"",
	},
	{
		"query", onlyHTTP, ofMatches,
		each{"queryParams", where{
			"type", "Exact", all{text{"name", queryName, MaxValue}, text{"value", queryValue, MaxValue}},
		}},
		fmt.Sprintf("a query parameter is not one that the load balancer compares: its name and value have to have "+
			"at most %d letters, digits and _.$/~\"'@:+&()!,;=-, the value with one wildcard. Use such a parameter",
			MaxValue), "",
	},
	{
		"method", onlyGRPC, ofMatches,
		all{oneOf{"method.type", []string{"Exact"}}, joined{}},
		fmt.Sprintf("a gRPC method is not one that the load balancer compares: its type has to be Exact, "+
			"and its service and method together at most %d characters. Use such a method", MaxMethod), "",
	},
	{
		"values", both, ofMatches,
		values{},
		fmt.Sprintf("a match compares more than the %d values that a rule of the load balancer has: the hostname is "+
			"one, a path prefix two, an exact path, a method, each value of a header and each query parameter one. "+
			"Compare fewer", MaxRuleValues), "",
	},
}

const targetSays = "is not one that the load balancer takes: printable characters without * ? # $ and \\, not more " +
	"than it has room for. Use such a path"

// target tests a path that a filter puts in the place of another.
func target(path string) test {
	return all{
		oneOf{path + ".type", []string{"ReplaceFullPath", "ReplacePrefixMatch"}},
		text{path + ".replaceFullPath", targetPath, MaxValue},
		text{path + ".replacePrefixMatch", targetPrefix, MaxPrefix},
	}
}

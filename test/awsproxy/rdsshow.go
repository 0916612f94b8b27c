package awsproxy

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var instanceElement = regexp.MustCompile(`(?s)<DBInstance>.*?</DBInstance>`)

// complete adds to every instance in a reply what moto does not store.
func (s *rdsService) complete(x *exchange, r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.body = instanceElement.ReplaceAllFunc(r.body, func(is []byte) []byte {
		extra := s.instances[instanceKey(x, element(is, "DBInstanceIdentifier"))]
		if extra == nil {
			return is
		}
		text := string(is)
		if extra.port != "" {
			text = portElement.ReplaceAllString(text, "<Port>"+extra.port+"</Port>")
		}
		text = s.lead(text)
		if s.now().Before(extra.ready) {
			text = replaceElement(endpointElement.ReplaceAllString(text, ""), "DBInstanceStatus", "creating")
		}
		var pending strings.Builder
		for _, name := range slices.Sorted(slices.Values(deferred)) {
			if value := extra.pending.Get(name); value != "" {
				pending.WriteString("<" + name + ">" + escapeXML(value) + "</" + name + ">")
			}
		}
		return []byte(strings.TrimSuffix(text, "</DBInstance>") +
			"<PerformanceInsightsEnabled>" + strconv.FormatBool(extra.insights) + "</PerformanceInsightsEnabled>" +
			lifecycle(extra, element(is, "Engine")) + "<PendingModifiedValues>" + pending.String() +
			"</PendingModifiedValues></DBInstance>")
	})
	r.header.Del("Content-Length")
}

// lifecycle returns the element about Extended Support, which RDS has for two engines, and enables unless configured
// otherwise.
func lifecycle(extra *instanceExtra, engine string) string {
	if !extendable[engine] {
		return ""
	}
	return "<EngineLifecycleSupport>" + cmp.Or(extra.lifecycle, "open-source-rds-extended-support") +
		"</EngineLifecycleSupport>"
}

var extendable = map[string]bool{"mysql": true, "postgres": true}

var (
	portElement     = regexp.MustCompile(`<Port>[^<]*</Port>`)
	endpointElement = regexp.MustCompile(`(?s)<Endpoint>.*?</Endpoint>`)
)

// element returns the text of the first element with the name, or "".
func element(in []byte, name string) string {
	_, rest, ok := strings.Cut(string(in), "<"+name+">")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "<")
	return text
}

func replaceElement(in, name, text string) string {
	was := element([]byte(in), name)
	return strings.Replace(in, "<"+name+">"+was+"<", "<"+name+">"+text+"<", 1)
}

package rds

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

var instanceElement = regexp.MustCompile(`(?s)<DBInstance>.*?</DBInstance>`)

// complete adds to every instance in a reply what moto does not store.
func (s *Service) complete(x *wire.Exchange, r *wire.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Body = instanceElement.ReplaceAllFunc(r.Body, func(is []byte) []byte {
		extra := s.instances[instanceKey(x, wire.Element(is, "DBInstanceIdentifier"))]
		if extra == nil {
			return is
		}
		text := string(is)
		if extra.port != "" {
			text = portElement.ReplaceAllString(text, "<Port>"+extra.port+"</Port>")
		}
		text = s.lead(x, text)
		if s.now().Before(extra.ready) {
			text = replaceElement(endpointElement.ReplaceAllString(text, ""), "DBInstanceStatus", "creating")
		}
		var pending strings.Builder
		for _, name := range slices.Sorted(slices.Values(deferred)) {
			if value := extra.pending.Get(name); value != "" {
				pending.WriteString("<" + name + ">" + wire.EscapeXML(value) + "</" + name + ">")
			}
		}
		return []byte(strings.TrimSuffix(text, "</DBInstance>") +
			"<PerformanceInsightsEnabled>" + strconv.FormatBool(extra.insights) + "</PerformanceInsightsEnabled>" +
			lifecycle(extra, wire.Element(is, "Engine")) + "<PendingModifiedValues>" + pending.String() +
			"</PendingModifiedValues></DBInstance>")
	})
	r.Header.Del("Content-Length")
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

func replaceElement(in, name, text string) string {
	was := wire.Element([]byte(in), name)
	return strings.Replace(in, "<"+name+">"+was+"<", "<"+name+">"+text+"<", 1)
}

package albsim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// model is the desired state in AWS of one Gateway. Key changes with everything that the controller must reconcile
// again.
type model struct {
	Key         string `json:"-"`
	Gateway     string // namespace/name
	Generations []string
	Refused     string
	Deleting    bool

	Name, Scheme string
	Listeners    []portModel
	Groups       map[string]groupModel // by name

	failed error // why it cannot be built: one rule is sufficient
}

// portModel is a listener of the load balancer: all Gateway API listeners of its port together.
type portModel struct {
	Port         int32
	Protocol     gatewayv1.ProtocolType
	Certificates []string // the default first
	SSLPolicy    string
	Rules        []ruleModel
}

type groupModel struct {
	Service types.NamespacedName
	Port    int32
	GRPC    bool
}

// modelOf returns the model of a Gateway, or an error with the reason why there is none.
func modelOf(w *world, t *topology) (*model, error) {
	g := t.gateway
	m := &model{
		Gateway: g.Namespace + "/" + g.Name, Deleting: !g.DeletionTimestamp.IsZero(), Groups: map[string]groupModel{},
		Generations: []string{fmt.Sprint(g.UID, g.Generation)},
	}
	for _, set := range t.sets {
		m.Generations = append(m.Generations, fmt.Sprint(set.object.UID, set.object.Generation, set.allowed))
	}
	config, err := configOf(w, t)
	if err != nil {
		m.Refused = err.Error()
	}
	m.Scheme = otherwise(config.Scheme, "internal")
	m.Name = resourceName(g.Namespace, g.Name, m.Scheme, string(g.UID))
	for _, l := range t.listeners {
		if l.accepted() && len(l.attached) > 0 && m.port(l.port) == nil {
			m.addPort(t, l, config)
		}
	}
	slices.SortFunc(m.Listeners, func(a, b portModel) int { return int(a.Port - b.Port) })
	if m.failed != nil {
		m.Refused = m.failed.Error()
	}
	content, _ := json.Marshal(m) // plain data
	sum := sha256.Sum256(content)
	m.Key = hex.EncodeToString(sum[:])
	return m, err
}

func (m *model) port(port int32) *portModel {
	i := slices.IndexFunc(m.Listeners, func(p portModel) bool { return p.Port == port })
	if i < 0 {
		return nil
	}
	return &m.Listeners[i]
}

// addPort adds the listener of a port. An HTTPS listener without a certificate is not added.
func (m *model) addPort(t *topology, l *listener, config albconfig.LoadBalancerConfigurationSpec) {
	p := portModel{Port: l.port, Protocol: l.protocol}
	if l.protocol == gatewayv1.HTTPSProtocolType {
		c := listenerConfig(config, l.protocol, l.port)
		if c.DefaultCertificate == "" {
			return
		}
		p.SSLPolicy, p.Certificates = c.SSLPolicy, []string{c.DefaultCertificate}
		for _, arn := range c.Certificates {
			if !slices.Contains(p.Certificates, arn) {
				p.Certificates = append(p.Certificates, arn)
			}
		}
	}
	p.Rules = m.rules(t, l.port)
	m.Listeners = append(m.Listeners, p)
}

func listenerConfig(spec albconfig.LoadBalancerConfigurationSpec, protocol gatewayv1.ProtocolType,
	port int32,
) albconfig.ListenerConfiguration {
	name := fmt.Sprintf("%s:%d", protocol, port)
	for _, c := range spec.ListenerConfigurations {
		if c.ProtocolPort == name {
			return c
		}
	}
	return albconfig.ListenerConfiguration{}
}

// configOf merges the configurations that the Gateway and its class name.
func configOf(w *world, t *topology) (albconfig.LoadBalancerConfigurationSpec, error) {
	var own, class albconfig.LoadBalancerConfigurationSpec
	if i := t.gateway.Spec.Infrastructure; i != nil && i.ParametersRef != nil {
		c := w.configs[types.NamespacedName{Namespace: t.gateway.Namespace, Name: i.ParametersRef.Name}]
		if !isConfig(i.ParametersRef.Group, i.ParametersRef.Kind) || c == nil {
			return own, fmt.Errorf("the Gateway's parametersRef names no LoadBalancerConfiguration that exists: %s %s",
				i.ParametersRef.Kind, i.ParametersRef.Name)
		}
		own = c.Spec
	}
	if ref := t.class.Spec.ParametersRef; ref != nil {
		c := w.configs[types.NamespacedName{Namespace: text(ref.Namespace), Name: ref.Name}]
		if !isConfig(ref.Group, ref.Kind) || c == nil {
			return own, fmt.Errorf("the GatewayClass's parametersRef names no LoadBalancerConfiguration that "+
				"exists: %s %s", ref.Kind, ref.Name)
		}
		class = c.Spec
	}
	if class.MergingMode == albconfig.PreferGateway {
		return merge(own, class), nil
	}
	return merge(class, own), nil
}

func isConfig(group gatewayv1.Group, kind gatewayv1.Kind) bool {
	return string(group) == albconfig.GroupVersion.Group && kind == "LoadBalancerConfiguration"
}

// merge merges two configurations; each listener's settings come from one of them as a whole.
func merge(first, second albconfig.LoadBalancerConfigurationSpec) albconfig.LoadBalancerConfigurationSpec {
	merged := albconfig.LoadBalancerConfigurationSpec{
		Scheme: otherwise(first.Scheme, second.Scheme), ListenerConfigurations: slices.Clone(
			first.ListenerConfigurations),
	}
	for _, c := range second.ListenerConfigurations {
		if !slices.ContainsFunc(first.ListenerConfigurations, func(f albconfig.ListenerConfiguration) bool {
			return f.ProtocolPort == c.ProtocolPort
		}) {
			merged.ListenerConfigurations = append(merged.ListenerConfigurations, c)
		}
	}
	return merged
}

var unusual = regexp.MustCompile(`[^A-Za-z0-9]`)

// resourceName returns a name in the controller's pattern, of at most 32 characters: k8s-NAMESPACE-NAME-HASH.
func resourceName(namespace, name string, more ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{namespace, name}, more...), "/")))
	short := func(s string) string { return fmt.Sprintf("%.8s", unusual.ReplaceAllString(s, "")) }
	return "k8s-" + short(namespace) + "-" + short(name) + "-" + hex.EncodeToString(sum[:5])
}

package metric

// libraries are the metrics of controller-runtime, client-go and Prometheus' client that alerts and dashboards go by.
// Those who make them decide about names and labels; a test looks that they are there.
var libraries = []Info{
	{
		Name: "controller_runtime_reconcile_total", Type: TypeCounter, Source: Operator, Help: "Passes over objects.",
		Labels: []Label{controller, {Name: "result", Values: []string{"error", "requeue", "requeue_after", "success"}}},
	},
	{Name: "controller_runtime_reconcile_errors_total", Type: TypeCounter, Source: Operator, Help: "Passes that failed.", Labels: []Label{controller}},
	{
		Name: "controller_runtime_reconcile_time_seconds", Type: TypeHistogram, Source: Operator,
		Help:   "How long passes take.",
		Labels: []Label{controller}, Buckets: make([]float64, 33),
	},
	{
		Name: "workqueue_depth", Type: TypeGauge, Source: Operator, Help: "Objects that wait for a pass.",
		Labels: []Label{{Name: "name", Of: "a controller", Most: mostControllers}, controller, {Name: "priority", Of: "nothing: teams take turns, whatever the priority", Most: 1}},
		Most:   mostControllers,
	},
	{
		Name: "leader_election_master_status", Type: TypeGauge, Source: Operator,
		Help:   "1 in the replica that leads, 0 in the others.",
		Labels: []Label{{Name: "name", Values: []string{"portico-operator"}}},
	},
	{
		Name: "rest_client_requests_total", Type: TypeCounter, Source: Both, Help: "Requests to the API server.",
		Labels: []Label{{Name: "code", Of: "a status of HTTP", Most: 20}, {Name: "method", Of: "a method of HTTP", Most: 6}, {Name: "host", Of: "the API server", Most: 1}},
	},
	{Name: "process_cpu_seconds_total", Type: TypeCounter, Source: Both, Help: "CPU time of the process."},
	{Name: "process_resident_memory_bytes", Type: TypeGauge, Source: Both, Help: "Memory of the process."},
}

// mostControllers has room for one for each kind.
const mostControllers = 16

var controller = Label{Name: "controller", Of: "a kind, in small letters", Most: mostControllers}

// Controller returns the label that says whose queue it is.
func Controller() Label { return controller }

// Libraries returns the metrics of libraries that alerts and dashboards go by, sorted by name.
func Libraries() []Info { return sorted(libraries) }

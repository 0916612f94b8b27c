package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// WebAppSpec is the application that a team wants to run: one container image, as many times as asked.
type WebAppSpec struct {
	// image to run, with a tag or a digest, for example registry.example.com/shop/web:1.4.2. The tag latest is refused:
	// nobody could tell which version runs, or go back to it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[a-f0-9]{64})?$')",message="this is no image reference; write [registry/]repository:tag or …@sha256:digest, the repository in lower case"
	// +kubebuilder:validation:XValidation:rule="self.matches('(:[^/:@]+|@sha256:[a-f0-9]+)$')",message="name a version: add a tag such as :1.4.2, or a digest"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith(':latest')",message="the tag latest names no version; use a tag such as :1.4.2, or a digest"
	// +required
	Image string `json:"image"`
	// replicas is how many replicas run. Autoscaling overrides it.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:default=1
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// port is the port on which the application listens in its container. The process does not run as root: it cannot
	// listen below 1024 on every container runtime.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:default=8080
	// +optional
	Port int32 `json:"port,omitempty"`
	// env are environment variables; they win over those of bindings and of envFrom.
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	// +optional
	Env []WebAppEnv `json:"env,omitempty"`
	// envFrom makes every key of a Secret or ConfigMap an environment variable.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	EnvFrom []WebAppEnvFrom `json:"envFrom,omitempty"`
	// bindings give the application the connection details of other resources of this namespace as environment
	// variables or files. The rollout waits until the resources are Ready; when the details change, the Pods are
	// replaced one after the other.
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +optional
	Bindings []WebAppBinding `json:"bindings,omitempty"`
	// resources are the CPU and the memory of each replica.
	// +optional
	Resources *WebAppResources `json:"resources,omitempty"`
	// autoscaling changes the number of replicas with the CPU that they use, and replicas does not count then.
	// +optional
	Autoscaling *WebAppAutoscaling `json:"autoscaling,omitempty"`
	// probes are checks of whether the application works. If left out, Kubernetes checks whether its port accepts TCP
	// connections.
	// +optional
	Probes *WebAppProbes `json:"probes,omitempty"`
	// command replaces the image's entrypoint.
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=atomic
	// +optional
	Command []string `json:"command,omitempty"`
	// args replace the image's default arguments.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=atomic
	// +optional
	Args []string `json:"args,omitempty"`
	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson with which the image is pulled.
	// +kubebuilder:validation:MaxItems=10
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []LocalRef `json:"imagePullSecrets,omitempty"`
	// expose makes the application answer at a hostname of the namespace, over HTTPS.
	// +optional
	Expose *WebAppExpose `json:"expose,omitempty"`
	// identity is the identity of the application in AWS.
	// +optional
	Identity *WebAppIdentity `json:"identity,omitempty"`
}

// WebAppExpose is where the application answers.
type WebAppExpose struct {
	// hostname is the name of a GatewayHostnameRequest in the namespace, not the hostname itself.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Hostname string `json:"hostname"`
}

// WebAppEnv is one environment variable.
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="set value or valueFrom, not both"
type WebAppEnv struct {
	// name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_.-][A-Za-z0-9_.-]*$')",message="use letters, digits, underscores, dots and hyphens, and no digit in front"
	// +required
	Name string `json:"name"`
	// value of the variable. Everybody who can see this web app can read it: put passwords into a Secret.
	// +kubebuilder:validation:MaxLength=32768
	// +optional
	Value string `json:"value,omitempty"`
	// valueFrom takes the value from a Secret or a ConfigMap of this namespace.
	// +optional
	ValueFrom *WebAppEnvSource `json:"valueFrom,omitempty"`
}

// WebAppEnvSource is where the value of a variable comes from.
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="name one source: secretKeyRef or configMapKeyRef"
type WebAppEnvSource struct {
	// secretKeyRef is a key of a Secret.
	// +optional
	SecretKeyRef *SecretKeyRef `json:"secretKeyRef,omitempty"`
	// configMapKeyRef is a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyRef `json:"configMapKeyRef,omitempty"`
}

// WebAppEnvFrom is a Secret or ConfigMap whose keys become variables.
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.configMapRef)",message="name one source: secretRef or configMapRef"
type WebAppEnvFrom struct {
	// secretRef names a Secret of this namespace.
	// +optional
	SecretRef *LocalRef `json:"secretRef,omitempty"`
	// configMapRef names a ConfigMap of this namespace.
	// +optional
	ConfigMapRef *LocalRef `json:"configMapRef,omitempty"`
	// prefix goes in front of every key.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z_.-][A-Za-z0-9_.-]*$`
	// +optional
	Prefix string `json:"prefix,omitempty"`
}

// WebAppResources are what a Pod asks for, and what it may use at most.
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.cpu) || !has(self.limits.cpu) || quantity(string(self.requests.cpu)).compareTo(quantity(string(self.limits.cpu))) <= 0",message="requests.cpu must not be more than limits.cpu"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.memory) || !has(self.limits.memory) || quantity(string(self.requests.memory)).compareTo(quantity(string(self.limits.memory))) <= 0",message="requests.memory must not be more than limits.memory"
type WebAppResources struct {
	// requests are reserved for each replica. If left out: 100m of CPU and 256Mi of memory, or the limits where they
	// are lower.
	// +optional
	Requests *WebAppQuantities `json:"requests,omitempty"`
	// limits are the most that each replica can use. If left out, the limit of memory is what is requested, and CPU has
	// none.
	// +optional
	Limits *WebAppQuantities `json:"limits,omitempty"`
}

// WebAppQuantities are amounts of compute.
type WebAppQuantities struct {
	// cpu in cores, such as 250m or 2.
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0')) && !quantity(string(self)).isGreaterThan(quantity('256'))",message="write cores such as 250m or 2, more than 0 and at most 256"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// memory in bytes, such as 256Mi or 2Gi.
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && !quantity(string(self)).isLessThan(quantity('4Mi')) && !quantity(string(self)).isGreaterThan(quantity('4Ti'))",message="write bytes such as 256Mi or 2Gi, from 4Mi to 4Ti"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// WebAppAutoscaling is how the number of Pods follows the load.
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min must not be more than max"
type WebAppAutoscaling struct {
	// min is the smallest number of replicas.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +kubebuilder:default=1
	// +optional
	Min int32 `json:"min,omitempty"`
	// max is the largest number of replicas.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +required
	Max int32 `json:"max"`
	// targetCPU is the average CPU to aim for, in percent of what the replicas request.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=80
	// +optional
	TargetCPU int32 `json:"targetCPU,omitempty"`
}

// WebAppProbes tell whether the application works.
type WebAppProbes struct {
	// readiness: a replica that fails this check gets no requests.
	// +optional
	Readiness *WebAppProbe `json:"readiness,omitempty"`
	// liveness: a replica that fails this check is restarted.
	// +optional
	Liveness *WebAppProbe `json:"liveness,omitempty"`
	// startup: the other two checks wait until this one succeeds for the first time. If left out, it is the check of
	// readiness, for up to five minutes.
	// +optional
	Startup *WebAppProbe `json:"startup,omitempty"`
}

// WebAppProbe is one check, made again and again.
type WebAppProbe struct {
	// path is what the check requests by HTTP GET; a status from 200 to 399 is a success. If left out, the check opens
	// a TCP connection.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="a path starts with /"
	// +optional
	Path string `json:"path,omitempty"`
	// port is the port to check; if left out, it is the application's.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`
	// periodSeconds is the time between two checks.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	// +optional
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`
	// timeoutSeconds is how long a check waits for an answer.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// failureThreshold is how many failures in a row count.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// WebAppIdentity is the identity of the application in AWS.
type WebAppIdentity struct {
	// awsRoleARN is the IAM role that the application's ServiceAccount assumes (IRSA). Portico does not create it: its
	// trust policy must name this namespace's ServiceAccount, which has the name of this object.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	AWSRoleARN string `json:"awsRoleARN,omitempty"`
}

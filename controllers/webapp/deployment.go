package webapp

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// containerName is the name of the application's container in its Pods.
const containerName = "app"

const (
	// keptRevisions is how many old versions the cluster keeps for rollbacks.
	keptRevisions = 5
	// progressDeadline is after how many seconds without progress a rollout counts as stuck.
	progressDeadline = int32(podcause.LongestStart / time.Second)
	// drainSeconds is how long a Pod continues to serve after it is stopped: load balancers notice a little later.
	drainSeconds = 5
)

// Annotations of the Pods. A change of one replaces the Pods.
const (
	annotationBindings    = "portico.dev/bindings-checksum"
	annotationRestartedAt = "portico.dev/restarted-at"
	annotationRole        = "portico.dev/aws-role"
	annotationAccess      = "portico.dev/aws-access-checksum"
)

// deployment declares the Deployment, except its number of replicas.
func deployment(app *v1alpha1.WebApp, given projection) *appsac.DeploymentApplyConfiguration {
	return appsac.Deployment(app.Name, app.Namespace).WithLabels(labels(app)).WithSpec(appsac.DeploymentSpec().
		WithSelector(metaac.LabelSelector().WithMatchLabels(selector(app))).
		WithRevisionHistoryLimit(keptRevisions).
		WithProgressDeadlineSeconds(progressDeadline).
		// The old version serves until the new one is ready.
		WithStrategy(appsac.DeploymentStrategy().WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(appsac.RollingUpdateDeployment().WithMaxUnavailable(intstr.FromInt32(0)).WithMaxSurge(
				intstr.FromString("25%")))).
		WithTemplate(coreac.PodTemplateSpec().
			WithLabels(labels(app)).WithLabels(map[string]string{"app.kubernetes.io/managed-by": "portico"}).
			WithAnnotations(podAnnotations(app, given)).
			WithSpec(podSpec(app, given))))
}

// podAnnotations returns the annotations of the Pods, nil if there are none, so that an annotation added to Portico
// later does not replace every Pod.
func podAnnotations(app *v1alpha1.WebApp, given projection) map[string]string {
	all := map[string]string{
		annotationBindings:    given.checksum(),
		annotationRestartedAt: app.Annotations[v1alpha1.AnnotationRestartRequestedAt],
		annotationRole:        roleOf(app),
		annotationAccess:      given.access,
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// podSpec satisfies the restricted Pod Security Standard.
func podSpec(app *v1alpha1.WebApp, given projection) *coreac.PodSpecApplyConfiguration {
	pod := coreac.PodSpec().
		WithServiceAccountName(app.Name).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false). // these variables would change with every Service of the namespace
		WithSecurityContext(coreac.PodSecurityContext().WithRunAsNonRoot(true).
			WithSeccompProfile(coreac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithVolumes(coreac.Volume().WithName("tmp").WithEmptyDir(
			coreac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("1Gi")))).
		WithContainers(container(app, given))
	mountFolders(pod, app, given.folders)
	for _, topology := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		pod.WithTopologySpreadConstraints(coreac.TopologySpreadConstraint().
			WithTopologyKey(topology).WithMaxSkew(1).WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metaac.LabelSelector().WithMatchLabels(selector(app))).
			WithMatchLabelKeys(appsv1.DefaultDeploymentUniqueLabelKey)) // spread each version separately
	}
	for _, s := range app.Spec.ImagePullSecrets {
		pod.WithImagePullSecrets(coreac.LocalObjectReference().WithName(s.Name))
	}
	return pod
}

func container(app *v1alpha1.WebApp, given projection) *coreac.ContainerApplyConfiguration {
	spec := &app.Spec
	c := coreac.Container().WithName(containerName).WithImage(spec.Image).
		WithPorts(coreac.ContainerPort().WithName(portName).WithContainerPort(spec.Port).WithProtocol(
			corev1.ProtocolTCP)).
		WithResources(resources(spec.Resources)).
		WithSecurityContext(coreac.SecurityContext().
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(coreac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(coreac.VolumeMount().WithName("tmp").WithMountPath("/tmp")).
		// The last lines usually say why it crashed.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithLifecycle(coreac.Lifecycle().WithPreStop(
			coreac.LifecycleHandler().WithSleep(coreac.SleepAction().WithSeconds(drainSeconds)))).
		WithEnv(environment(app, given)...)
	if len(spec.Command) > 0 {
		c.WithCommand(spec.Command...)
	}
	if len(spec.Args) > 0 {
		c.WithArgs(spec.Args...)
	}
	for _, from := range spec.EnvFrom {
		c.WithEnvFrom(envFrom(from))
	}
	return withProbes(c, spec)
}

// environment returns the variables of the bindings followed by those of the spec, which can refer to them and override
// them.
func environment(app *v1alpha1.WebApp, given projection) []*coreac.EnvVarApplyConfiguration {
	var all []*coreac.EnvVarApplyConfiguration
	own := map[string]bool{}
	for _, e := range app.Spec.Env {
		own[e.Name] = true
	}
	for _, v := range given.variables {
		if !own[v.name] {
			all = append(all, coreac.EnvVar().WithName(v.name).WithValueFrom(coreac.EnvVarSource().
				WithSecretKeyRef(coreac.SecretKeySelector().WithName(v.secret).WithKey(v.key))))
		}
	}
	if len(given.folders) > 0 && !own[rootVariable] {
		all = append(all, coreac.EnvVar().WithName(rootVariable).WithValue(bindingRoot))
	}
	for _, e := range app.Spec.Env {
		all = append(all, envVar(e))
	}
	return all
}

func envVar(e v1alpha1.WebAppEnv) *coreac.EnvVarApplyConfiguration {
	v := coreac.EnvVar().WithName(e.Name)
	switch {
	case e.ValueFrom == nil:
		return v.WithValue(e.Value)
	case e.ValueFrom.SecretKeyRef != nil:
		return v.WithValueFrom(coreac.EnvVarSource().WithSecretKeyRef(
			coreac.SecretKeySelector().WithName(e.ValueFrom.SecretKeyRef.Name).WithKey(e.ValueFrom.SecretKeyRef.Key)))
	default:
		return v.WithValueFrom(coreac.EnvVarSource().WithConfigMapKeyRef(
			coreac.ConfigMapKeySelector().WithName(e.ValueFrom.ConfigMapKeyRef.Name).WithKey(
				e.ValueFrom.ConfigMapKeyRef.Key)))
	}
}

func envFrom(from v1alpha1.WebAppEnvFrom) *coreac.EnvFromSourceApplyConfiguration {
	source := coreac.EnvFromSource()
	if from.Prefix != "" {
		source.WithPrefix(from.Prefix)
	}
	if from.SecretRef != nil {
		return source.WithSecretRef(coreac.SecretEnvSource().WithName(from.SecretRef.Name))
	}
	return source.WithConfigMapRef(coreac.ConfigMapEnvSource().WithName(from.ConfigMapRef.Name))
}

// variableName returns a key in the form of an environment variable: db.host → DB_HOST.
func variableName(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, text)
}

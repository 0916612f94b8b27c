package webapp

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	scalingac "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// portName is the name of the application's port.
const portName = "http"

// labels returns the labels of all objects of the app.
func labels(app *v1alpha1.WebApp) map[string]string {
	return map[string]string{"app.kubernetes.io/name": app.Name, v1alpha1.LabelWebApp: app.Name}
}

// request declares one of Portico's own objects for the app.
func request(app *v1alpha1.WebApp, kind, name string, spec map[string]any) map[string]any {
	all := map[string]any{}
	for k, v := range labels(app) {
		all[k] = v
	}
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "spec": spec,
		"metadata": map[string]any{"namespace": app.Namespace, "name": name, "labels": all},
	}
}

// selector returns the selector of the app's Pods; it can never change.
func selector(app *v1alpha1.WebApp) map[string]string {
	return map[string]string{v1alpha1.LabelWebApp: app.Name}
}

// clusterURL returns the app's URL within the cluster.
func clusterURL(app *v1alpha1.WebApp) string {
	return "http://" + app.Name + "." + app.Namespace + ".svc"
}

func roleOf(app *v1alpha1.WebApp) string {
	if app.Spec.Identity == nil {
		return ""
	}
	return app.Spec.Identity.AWSRoleARN
}

func serviceAccount(app *v1alpha1.WebApp, role string) *coreac.ServiceAccountApplyConfiguration {
	account := coreac.ServiceAccount(app.Name, app.Namespace).WithLabels(labels(app)).WithAutomountServiceAccountToken(
		false)
	if role != "" {
		account.WithAnnotations(map[string]string{v1alpha1.AnnotationRoleARN: role})
	}
	return account
}

func service(app *v1alpha1.WebApp) *coreac.ServiceApplyConfiguration {
	return coreac.Service(app.Name, app.Namespace).WithLabels(labels(app)).WithSpec(coreac.ServiceSpec().
		WithSelector(selector(app)).
		WithPorts(coreac.ServicePort().WithName(portName).WithPort(80).WithProtocol(corev1.ProtocolTCP).WithTargetPort(
			intstr.FromString(portName))))
}

func disruptionBudget(app *v1alpha1.WebApp) *policyac.PodDisruptionBudgetApplyConfiguration {
	return policyac.PodDisruptionBudget(app.Name, app.Namespace).WithLabels(labels(app)).WithSpec(
		policyac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow). // a Pod that is not ready must not block a drain
			WithSelector(metaac.LabelSelector().WithMatchLabels(selector(app))))
}

func autoscaler(app *v1alpha1.WebApp) *scalingac.HorizontalPodAutoscalerApplyConfiguration {
	a := app.Spec.Autoscaling
	return scalingac.HorizontalPodAutoscaler(app.Name, app.Namespace).WithLabels(labels(app)).WithSpec(
		scalingac.HorizontalPodAutoscalerSpec().
			WithScaleTargetRef(scalingac.CrossVersionObjectReference().WithAPIVersion("apps/v1").WithKind(
				"Deployment").WithName(app.Name)).
			WithMinReplicas(a.Min).WithMaxReplicas(a.Max).
			WithMetrics(scalingac.MetricSpec().WithType(autoscalingv2.ResourceMetricSourceType).WithResource(
				scalingac.ResourceMetricSource().
					WithName(corev1.ResourceCPU).
					WithTarget(scalingac.MetricTarget().WithType(
						autoscalingv2.UtilizationMetricType).WithAverageUtilization(a.TargetCPU)))))
}

// scaled returns the part of the Deployment that an autoscaler can take over.
func scaled(app *v1alpha1.WebApp, replicas int32) *appsac.DeploymentApplyConfiguration {
	return appsac.Deployment(app.Name, app.Namespace).WithSpec(appsac.DeploymentSpec().WithReplicas(replicas))
}

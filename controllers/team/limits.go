package team

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// objectName is the name of the objects that a team has once in each namespace.
const objectName = "portico-team"

func quotaOf(namespace string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: objectName}}
}

func limitsOf(namespace string) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: objectName}}
}

// quotas applies the quota of each namespace and the limits of each container, or deletes them if unset.
func (p *pass) quotas(ctx context.Context) (string, error) {
	hard, containers := hardLimits(p.team.Spec.Quotas), containerLimits(p.team.Spec.Isolation.Containers)
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		if err := p.quota(ctx, namespace, hard); err != nil {
			return err
		}
		if containers == nil {
			return p.objects.Delete(ctx, limitsOf(namespace))
		}
		limits := coreac.LimitRange(objectName, namespace).WithSpec(coreac.LimitRangeSpec().WithLimits(containers))
		return p.objects.Apply(ctx, limits, &corev1.LimitRange{})
	})
	if len(hard) == 0 {
		return "no quota: unlimited", err
	}
	return count(len(hard), "limit") + " " + p.in(), err
}

func (p *pass) quota(ctx context.Context, namespace string, hard corev1.ResourceList) error {
	if len(hard) == 0 {
		return p.objects.Delete(ctx, quotaOf(namespace))
	}
	made := &corev1.ResourceQuota{}
	if err := p.objects.Apply(ctx, coreac.ResourceQuota(objectName, namespace).WithSpec(
		coreac.ResourceQuotaSpec().WithHard(hard)), made); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if _, counted := made.Status.Used[name]; !counted {
			return engine.Wait(v1alpha1.ReasonWaiting, soon, "Kubernetes has not counted %s in %s yet, and refuses "+
				"new ones until it has", name, namespace)
		}
	}
	return nil
}

// hardLimits returns the quotas under the resource names of Kubernetes.
func hardLimits(q *v1alpha1.TeamQuotas) corev1.ResourceList {
	hard := corev1.ResourceList{}
	if q == nil {
		return hard
	}
	for name, amount := range map[corev1.ResourceName]*resource.Quantity{
		corev1.ResourceRequestsCPU: q.CPU, corev1.ResourceRequestsMemory: q.Memory,
		corev1.ResourceRequestsStorage: q.Storage,
	} {
		if amount != nil {
			hard[name] = *amount
		}
	}
	if q.Pods != nil {
		hard[corev1.ResourcePods] = *resource.NewQuantity(int64(*q.Pods), resource.DecimalSI)
	}
	for _, one := range q.Resources {
		name := fmt.Sprintf("count/%ss.%s", strings.ToLower(one.Kind), v1alpha1.GroupVersion.Group)
		hard[corev1.ResourceName(name)] = *resource.NewQuantity(int64(one.Max), resource.DecimalSI)
	}
	return hard
}

// containerLimits returns the limits of single containers, nil if there are none.
func containerLimits(c *v1alpha1.ContainerLimits) *coreac.LimitRangeItemApplyConfiguration {
	if c == nil || c.DefaultRequest == nil && c.Default == nil && c.Max == nil {
		return nil
	}
	item := coreac.LimitRangeItem().WithType(corev1.LimitTypeContainer)
	if list := amounts(c.DefaultRequest); list != nil {
		item.WithDefaultRequest(list)
	}
	if list := amounts(c.Default); list != nil {
		item.WithDefault(list)
	}
	if list := amounts(c.Max); list != nil {
		item.WithMax(list)
	}
	return item
}

func amounts(of *v1alpha1.CPUAndMemory) corev1.ResourceList {
	if of == nil || of.CPU == nil && of.Memory == nil {
		return nil
	}
	list := corev1.ResourceList{}
	if of.CPU != nil {
		list[corev1.ResourceCPU] = *of.CPU
	}
	if of.Memory != nil {
		list[corev1.ResourceMemory] = *of.Memory
	}
	return list
}

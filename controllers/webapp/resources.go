package webapp

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Default requests: enough for a small service, and little waste.
var defaultCPU, defaultMemory = resource.MustParse("100m"), resource.MustParse("256Mi")

// resources returns the resources with defaults. Memory is limited to the request, because a node that runs out of
// memory kills processes; CPU is not limited, because it can be shared.
func resources(spec *v1alpha1.WebAppResources) *coreac.ResourceRequirementsApplyConfiguration {
	var requests, limits v1alpha1.WebAppQuantities
	if spec != nil && spec.Requests != nil {
		requests = *spec.Requests
	}
	if spec != nil && spec.Limits != nil {
		limits = *spec.Limits
	}
	request := corev1.ResourceList{
		corev1.ResourceCPU:    requested(requests.CPU, limits.CPU, defaultCPU),
		corev1.ResourceMemory: requested(requests.Memory, limits.Memory, defaultMemory),
	}
	limit := corev1.ResourceList{corev1.ResourceMemory: request[corev1.ResourceMemory]}
	if limits.Memory != nil {
		limit[corev1.ResourceMemory] = *limits.Memory
	}
	if limits.CPU != nil {
		limit[corev1.ResourceCPU] = *limits.CPU
	}
	return coreac.ResourceRequirements().WithRequests(rounded(request)).WithLimits(rounded(limit))
}

// rounded returns the quantities as the API server stores them, rounded up to thousandths: otherwise the declaration
// would always differ.
func rounded(list corev1.ResourceList) corev1.ResourceList {
	for name, q := range list {
		q = q.DeepCopy()
		q.RoundUp(resource.Milli)
		list[name] = q
	}
	return list
}

// requested returns the request of the spec, or the default if there is none, but at most the limit.
func requested(request, limit *resource.Quantity, byDefault resource.Quantity) resource.Quantity {
	switch {
	case request != nil:
		return *request
	case limit != nil && limit.Cmp(byDefault) < 0:
		return *limit
	}
	return byDefault
}
